import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { contractText } from '../support/contract-with.ts'
import { KeptConnection, sendRaw, Tally } from '../support/fuzz-client.ts'
import { FuzzRequests } from '../support/fuzz-requests.ts'
import { fuzzRun } from '../support/fuzz.ts'
import { onEnd } from '../support/on-end.ts'
import { OFFERS, RATES, writeSheet } from '../support/sheet-fixture.ts'

const MIB = 1024 * 1024

/** How much more there may be in use after the run than after a part of it; several times what was seen. */
const HEAP_GROWTH = 16 * MIB

/** Connections at a time that are kept, and of raw bytes; requests that are sent at once on one that is kept. */
const KEPT = 6
const RAW = 24
const PIPELINED = 8

const RAW_SHARE = 0.3

const SHEET = {
  ...OFFERS,
  contract: contractText([
    '{name: title, logicalType: string, required: true, logicalTypeOptions: {maxLength: 1000}}',
    '{name: price, logicalType: number}',
    '{name: currency, logicalType: string}',
    "{name: owner_note, logicalType: string, customProperties: [{property: editableBy, value: ['agent:owner']}]}",
    '{name: tags, logicalType: array}',
    '{name: notes, logicalType: object}',
    '{name: rate, logicalType: number}',
  ]),
}

const { count, random, again } = fuzzRun({ test: 300, fuzz: 1_000_000 })

test(`${count} malformed requests get an envelope each, and leak no memory`, async (t) => {
  const directory = await writeSheet(t, SHEET)
  const stub = join(directory, 'stub.json')
  await writeFile(stub, RATES)
  const preload = pathToFileURL(join(import.meta.dirname, '..', 'support', 'report-memory.mjs')).href
  const server = new ColophonProcess(
    t,
    ['serve', directory, '--port', '0', '--stub', stub, '--body-limit', '1', '--actor', 'agent:fuzz'],
    // V8 lets its heap grow with the rate of requests when it may; kept small, what grows is a leak.
    { env: { NODE_OPTIONS: `--import=${preload} --max-semi-space-size=4 --max-old-space-size=256` } },
  )
  const port = await server.port()
  const fuzzer = new Fuzzer(server, port)

  const started = performance.now()
  const warmUp = Math.min(20_000, Math.ceil(count / 4))
  await fuzzer.run(warmUp)
  const before = await memoryOf(server)
  await fuzzer.run(count - warmUp)
  const seconds = (performance.now() - started) / 1000
  const after = await memoryOf(server)
  t.diagnostic(`${Math.round(count / seconds)} requests/s; ${fuzzer.tally.toString()}`)
  t.diagnostic(
    `heap ${mib(before.heap)} -> ${mib(after.heap)}, process ${mib(before.rss)} -> ${mib(after.rss)}`,
  )

  await checkConsistency(port)
  server.kill('SIGTERM')
  const { code, stderr } = await server.end()
  assert.equal(code, 0, stderr.slice(-2000))
  for (const line of stderr.trim().split('\n')) {
    if (!line.startsWith('memory ')) assert.ok((JSON.parse(line) as { level: number }).level < 50, line)
  }
  // Opens only if log and table agree.
  const sheet = await openSheet(directory)
  onEnd(t, () => sheet.close())
  // Each framed request has one, and most of the raw ones.
  assert.ok(fuzzer.tally.answers > count * 0.8, `${fuzzer.tally.answers} answers`)
  assert.ok(
    after.heap - before.heap < HEAP_GROWTH,
    `the heap grew from ${mib(before.heap)} to ${mib(after.heap)}`,
  )
})

/** Sends requests on several connections at a time. */
class Fuzzer {
  readonly tally = new Tally()
  readonly #server: ColophonProcess
  readonly #port: number
  readonly #requests = new FuzzRequests(random)
  #framedLeft = 0
  #rawLeft = 0

  constructor(server: ColophonProcess, port: number) {
    this.#server = server
    this.#port = port
  }

  async run(requests: number): Promise<void> {
    this.#rawLeft = Math.round(requests * RAW_SHARE)
    this.#framedLeft = requests - this.#rawLeft
    const senders = [
      ...Array.from({ length: KEPT }, () => this.#framed()),
      ...Array.from({ length: RAW }, () => this.#raw()),
    ]
    try {
      await Promise.all(senders)
    } catch (error) {
      this.#framedLeft = this.#rawLeft = 0
      this.#server.kill('SIGTERM')
      const { code, stderr } = await this.#server.end()
      const last = `the server ended with ${code} and these last words:\n${stderr.slice(-3000)}`
      throw new Error(`${(error as Error).message}\nrepeat with ${again}\n${last}`, { cause: error })
    }
  }

  async #framed(): Promise<void> {
    const connection = new KeptConnection(this.#port, this.tally)
    try {
      while (this.#framedLeft > 0) {
        const length = Math.min(this.#framedLeft, 1 + random.below(PIPELINED))
        this.#framedLeft -= length
        await connection.exchange(Array.from({ length }, () => this.#requests.framed()))
      }
    } finally {
      connection.close()
    }
  }

  async #raw(): Promise<void> {
    while (this.#rawLeft > 0) {
      this.#rawLeft -= 1
      await sendRaw(this.#port, this.#requests.raw(), this.tally)
    }
  }
}

interface Memory {
  readonly heap: number
  readonly rss: number
}

async function memoryOf(server: ColophonProcess): Promise<Memory> {
  // Windows has no such signal.
  if (process.platform === 'win32') return { heap: 0, rss: 0 }
  // Connections that were refused are released a second later at the latest.
  for (;;) {
    const [heap, rss, connections] = await server.memory()
    if (connections === 0) return { heap, rss }
  }
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`
}

/** The sheet is still one: counts add up, and every record is met once. */
async function checkConsistency(port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}/api`
  const json = async <T>(path: string, init?: RequestInit): Promise<T> => {
    const response = await fetch(url + path, init)
    assert.equal(response.status, 200, path)
    return (await response.json()) as T
  }
  const { rate } = await json<{
    rate: Record<'total_records' | 'fresh' | 'stale' | 'missing' | 'failed' | 'overridden', number>
  }>('/status')
  assert.equal(rate.fresh + rate.stale + rate.missing + rate.failed + rate.overridden, rate.total_records)
  const counted = await json<{ rows: [{ n: number }] }>('/query', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"sql":"SELECT count(*) AS n FROM records"}',
  })
  assert.equal(counted.rows[0].n, rate.total_records)
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: { records: { id: string }[]; next_cursor: string | null } = await json(
      `/records?fields=id&limit=100${cursor && `&cursor=${cursor}`}`,
    )
    ids.push(...page.records.map(({ id }) => id))
    cursor = page.next_cursor
  }
  assert.equal(new Set(ids).size, rate.total_records)
  assert.equal(ids.length, rate.total_records)
}
