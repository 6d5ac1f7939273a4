import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import assert from 'node:assert/strict'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'colophon.js')
const TOKEN = 'k'.repeat(43)
const WRITE_HEADERS = {
  'content-type': 'application/json',
  'x-csrf-token': TOKEN,
  cookie: `svc_csrf=${TOKEN}`,
}

/** How often each kill test kills its server. */
export const KILLS = Number(process.env['COLOPHON_KILLS'] ?? 20)

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Orders texts. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** A server in a process group of its own, to be killed with all its children. */
export class Victim {
  readonly #child: ChildProcess
  readonly #url: string

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.#url = url
  }

  static async start(directory: string): Promise<Victim> {
    const args = [BIN, 'serve', directory, '--port', '0', '--actor', 'agent:victim', '--log-level', 'error']
    const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    return new Victim(child, line.slice(line.indexOf('http')))
  }

  /** Sends a write; resolves to the answer's body when it is acknowledged, to null when the server died over it. */
  async post(path: string, body: object): Promise<unknown> {
    try {
      const answer = await fetch(this.#url + path, {
        method: 'POST',
        headers: WRITE_HEADERS,
        body: JSON.stringify(body),
      })
      const text = await answer.text()
      assert.equal(answer.status, 200, text)
      return JSON.parse(text)
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      return null
    }
  }

  /** Kills the whole group and waits until it is gone. */
  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit')
    process.kill(-(this.#child.pid ?? 0), 'SIGKILL')
    await exited
  }
}

export interface LogEntry {
  readonly seq: number
  readonly source: string
  readonly record_id?: string
  readonly field?: string
  readonly value?: unknown
  readonly values?: Readonly<Record<string, unknown>>
}

/** Holds `provenance.jsonl` of a closed sheet to D34: every committed entry once, in order, each line whole. */
export function checkedLog(directory: string): LogEntry[] {
  const text = readFileSync(join(directory, 'provenance.jsonl'), 'utf8')
  assert.ok(text === '' || text.endsWith('\n'), 'the last line is whole')
  const lines = text.split('\n').slice(0, -1)
  const db = new DatabaseSync(join(directory, 'sheet.db'), { readOnly: true })
  try {
    const table = db.prepare('SELECT line FROM "$provenance" ORDER BY seq').all()
    assert.deepEqual(
      lines,
      table.map(({ line }) => line),
      'the file says what the table says',
    )
  } finally {
    db.close()
  }
  const entries = lines.map((line) => JSON.parse(line) as LogEntry)
  entries.forEach(({ seq }, index) => assert.equal(seq, index + 1, 'numbers count up without gaps'))
  return entries
}
