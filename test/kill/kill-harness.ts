import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { wholeLine } from '../../src/provenance/log-line.ts'
import { isStoreUrl } from '../../src/sheet/store-url.ts'
import { perEngine, placeOnEngine, readLog } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'colophon.js')
const ACTOR = 'agent:victim'
const TOKEN = 'k'.repeat(43)
const WRITE_HEADERS = {
  'content-type': 'application/json',
  'x-csrf-token': TOKEN,
  cookie: `svc_csrf=${TOKEN}`,
}

/** The number of kills in each test: more in long tests. */
export const KILLS = Number(process.env['COLOPHON_KILLS'] ?? 2)

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
  #url = ''

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Serves the sheet of a directory, where it is on this engine, with these options; it is gone when the test ends. */
  static async start(
    t: Pick<TestContext, 'after'>,
    directory: string,
    options: readonly string[] = [],
  ): Promise<Victim> {
    const place = await placeOnEngine(directory, ACTOR)
    const sheet = isStoreUrl(place) ? ['--store', place] : [place]
    const args = [BIN, 'serve', ...sheet, '--port', '0', '--actor', ACTOR, '--log-level', 'error'].concat(
      options,
    )
    const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
    const victim = new Victim(child)
    onEnd(t, () => victim.kill())
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      once(child, 'exit').then(() => assert.fail('the server ended before it served')),
    ])) as [string]
    victim.#url = line.slice(line.indexOf('http'))
    return victim
  }

  /** Reads JSON. */
  async get<T>(path: string): Promise<T> {
    const answer = await fetch(this.#url + path)
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return JSON.parse(text) as T
  }

  /** Sends a write; resolves to the answer's body when it is acknowledged, to null when the server died over it. */
  post(path: string, body: object): Promise<unknown> {
    return this.#write('POST', path, JSON.stringify(body))
  }

  /** Deletes as {@link post} writes. */
  delete(path: string): Promise<unknown> {
    return this.#write('DELETE', path, null)
  }

  async #write(method: string, path: string, body: string | null): Promise<unknown> {
    try {
      const answer = await fetch(this.#url + path, {
        method,
        headers: WRITE_HEADERS,
        body,
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
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
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

/** Holds the log of a closed sheet to D34: every committed entry once and in order, and in a file each line whole. */
export async function checkedLog(directory: string): Promise<LogEntry[]> {
  if (perEngine({ sqlite: true, postgres: false })) checkLogFile(directory)
  const entries = (await readLog(directory)) as readonly unknown[] as LogEntry[]
  entries.forEach(({ seq }, index) => assert.equal(seq, index + 1, 'numbers count up without gaps'))
  return entries
}

function checkLogFile(directory: string): void {
  const text = readFileSync(join(directory, 'provenance.jsonl'), 'utf8')
  assert.ok(text === '' || text.endsWith('\n'), 'the last line is whole')
  const lines = text.split('\n').slice(0, -1)
  const db = new DatabaseSync(join(directory, 'sheet.db'), { readOnly: true })
  try {
    const table = db.prepare('SELECT line FROM "$provenance" ORDER BY seq').all()
    assert.deepEqual(
      lines,
      table.map(({ line }) => wholeLine(String(line))),
      'the file says what the table says',
    )
  } finally {
    db.close()
  }
}
