import assert from 'node:assert/strict'
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { ApiError, createClient } from '../../src/client/client.ts'
import { ColophonProcess } from '../../test/support/colophon-process.ts'
import { contractText } from '../../test/support/contract-with.ts'
import { placeOnEngine } from '../../test/support/engine.ts'
import { startLocalApi } from '../../test/support/local-api.ts'
import { writeSheet } from '../../test/support/sheet-fixture.ts'
import { isStoreUrl } from '../../src/sheet/store-url.ts'
import type { Campaign, Counts, Round, Setting } from '../campaign.ts'
import { verifyPlace } from '../support/verify-place.ts'

const RECORDS = 2000
const WORDS = 400

/** A round is so many milliseconds of everything. */
const ROUND_MS = 60_000

/** After these rounds caches are full: the resources used then are compared with those used later. */
const WARM_UP = 10

/** The most by which each may grow after the warm-up. */
const MORE = { heapMiB: 48, rssMiB: 160, handles: 24, walMiB: 64 }

const MIB = 1024 * 1024
const PRELOAD = pathToFileURL(join(import.meta.dirname, '../../test/support/report-memory.mjs')).href

/** Errors that follow from what other clients do: they delete or write the same records, rename fields, and end runs. */
const EXPECTED: readonly (readonly [status: number, message: RegExp])[] = [
  [404, /not found|no record|unknown record|never existed|the last checkpoint covers/],
  [409, /./],
  [412, /./],
  [
    400,
    /unknown field|no field|unknown column|no such column|does not exist|is not running any more|were confirmed|has no such field|field "(remark|comment)": /,
  ],
]

/** The line that a server logs when an export ends early because its fields were renamed meanwhile. */
const CUT_EXPORT = /"the fields of the sheet were changed meanwhile; try again".*"an export failed"/

interface SheetRecord {
  readonly id: string
  readonly word: string | null
  readonly count: number | null
}

type Client = ReturnType<typeof createClient<SheetRecord>>

/** An action that a client repeats, with the pause in milliseconds after each. */
interface Habit {
  readonly every: number
  readonly act: (stopped: AbortSignal) => Promise<unknown>
}

/** The resources that a server uses. */
interface Use {
  readonly heapMiB: number
  readonly rssMiB: number
  readonly handles: number
  /** The write-ahead log of SQLite; 0 on PostgreSQL. */
  readonly walMiB: number
}

/** A server that does all that it can at once, for two hours. */
export const everything: Campaign = {
  name: 'everything',
  attack: 'Two hours of everything at once',
  claim:
    'Reads, writes, queries, runs over a failing API, streams, exports, imports, proposals, reviews, views, reverts, changes of fields and checkpoints by many clients of one server: each error follows from what another client does; memory, open files and the write-ahead log stay flat, and in the end `colophon verify` finds no difference.',
  engines: ['sqlite', 'postgres'],
  goal: { minutes: 120 },
  isWhole: true,
  start,
}

async function start({ random, scope, note }: Setting): Promise<Round> {
  const api = await startLocalApi(scope)
  api.answer('*', async ({ path }) => {
    await delay(random.below(20))
    if (random.chance(0.05)) return { status: random.pick([404, 429, 500, 503]), json: { error: 'not now' } }
    return random.chance(0.01) ? { breaks: true } : { json: { value: `value of ${path}` } }
  })
  const directory = await writeSheet(scope, {
    contract: contractText([
      '{name: word, logicalType: string}',
      '{name: count, logicalType: integer}',
      '{name: label, logicalType: string}',
      '{name: twice, logicalType: integer}',
      '{name: remark, logicalType: string}',
    ]),
    records: Array.from({ length: RECORDS }, (_, index) => ({
      id: `r${index}`,
      word: `w${index % WORDS}`,
      count: index,
    })),
    derivations: {
      'label.yaml': `targets: [label]\nkind: http\nurl: ${api.url}/{{ word }}\nresponse_path: value\n`,
      'twice.yaml': 'targets: [twice]\nkind: sql\nexpression: count * 2\n',
    },
  })
  await writeFile(join(directory, 'transport.yaml'), 'hosts:\n  "*": {retries: 1, concurrency: 16}\n')
  const place = await placeOnEngine(directory, 'agent:everything')
  const sheet = isStoreUrl(place) ? ['--store', place] : [place]
  const server = new ColophonProcess(
    scope,
    ['serve', ...sheet, '--port', '0', '--actor', 'agent:everything', '--log-level', 'error'],
    { env: { NODE_OPTIONS: `--import=${PRELOAD} --max-semi-space-size=4` } },
  )
  const baseUrl = `http://127.0.0.1:${await server.port()}`
  const client = createClient<SheetRecord>({ baseUrl, actor: 'user:ann' })
  const load = new Load(client, habitsOf(client, random), () => logOf(server.stderr))
  let rounds = 0
  let early: Use | null = null
  return async (): Promise<Counts> => {
    const requests = await load.run(ROUND_MS)
    rounds += 1
    if (rounds % WARM_UP === 0) {
      const use = await useOf(server, directory)
      early ??= use
      note(`${shown(early)} after ${WARM_UP} minutes, ${shown(use)} after ${rounds}`)
      for (const [name, most] of Object.entries(MORE) as [keyof Use, number][])
        assert.ok(use[name] <= early[name] + most, `${name} grew: ${shown(early)}, then ${shown(use)}`)
    }
    if (rounds === everything.goal['minutes']) {
      server.kill('SIGTERM')
      const { code, signal, stderr } = await server.end()
      assert.deepEqual([code, signal], [0, null])
      load.checkLog(logOf(stderr))
      await verifyPlace(directory)
    }
    return { minutes: 1, requests }
  }
}

/** Returns the lines that a server has logged, without its reports of memory. */
function logOf(stderr: string): readonly string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('memory '))
}

/** Clients that follow their habits for a time. */
class Load {
  readonly #client: Client
  readonly #habits: readonly Habit[]
  readonly #log: () => readonly string[]
  #requests = 0
  #cutExports = 0

  /** Creates them; `log` returns what the server has logged. */
  constructor(client: Client, habits: readonly Habit[], log: () => readonly string[]) {
    this.#client = client
    this.#habits = habits
    this.#log = log
  }

  /**
   * Returns the number of requests. Throws the first error that is not expected, and ends all clients with it; before, throws for what was
   * logged so far.
   */
  async run(ms: number): Promise<number> {
    this.checkLog(this.#log())
    this.#requests = 0
    const stop = new AbortController()
    const until = Date.now() + ms
    const streams = [0, 1].map(async () => {
      for await (const _ of this.#client.changes({ signal: stop.signal })) if (Date.now() >= until) return
    })
    const followed = this.#habits.map((habit) => this.#follow(habit, until, stop.signal))
    try {
      await Promise.all(followed)
    } finally {
      stop.abort()
      await Promise.allSettled([...streams, ...followed])
    }
    return this.#requests
  }

  /** Checks that a server has logged nothing but exports that were cut. */
  checkLog(lines: readonly string[]): void {
    const others = lines.filter((line) => !CUT_EXPORT.test(line))
    assert.deepEqual([others, lines.length], [[], this.#cutExports])
  }

  async #follow({ every, act }: Habit, until: number, stopped: AbortSignal): Promise<void> {
    while (Date.now() < until && !stopped.aborted) {
      this.#requests += 1
      try {
        await act(stopped)
      } catch (error) {
        stopped.throwIfAborted()
        if (isCut(error)) this.#cutExports += 1
        else if (!isExpected(error)) {
          const log = this.#log().join('\n')
          throw new Error(`an unexpected error: ${String(error)}\n${act.toString()}\n${log}`, {
            cause: error,
          })
        }
      }
      await delay(Math.min(every, Math.max(0, until - Date.now())))
    }
  }
}

/** Whether a response ended early. */
function isCut(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'terminated'
}

function isExpected(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    EXPECTED.some(([status, text]) => status === error.status && text.test(error.message))
  )
}

function habitsOf(client: Client, { below, chance, pick }: Setting['random']): readonly Habit[] {
  const id = (): string => `r${below(RECORDS)}`
  const ids = (): string[] => Array.from({ length: 1 + below(20) }, id)
  const read = async (response: Promise<Response>): Promise<void> =>
    void (await (await response).arrayBuffer())
  const field = new ChangingField(client)
  return [
    {
      every: 40,
      act: () => client.records.list({ limit: 100, filter: `count > ${below(RECORDS)}`, sort: '-count' }),
    },
    { every: 60, act: () => client.records.getVersioned(id()) },
    {
      every: 100,
      act: () => client.query(`SELECT word, count(*) AS n FROM records GROUP BY word LIMIT ${1 + below(50)}`),
    },
    { every: 100, act: () => client.records.summary({ fields: ['word', 'count'] }) },
    { every: 200, act: () => client.status() },
    { every: 200, act: () => client.cells.history({ record_id: id() }) },
    {
      every: 80,
      act: () =>
        client.records.upsert(
          ids().map((one) => ({ id: one, word: `w${below(WORDS)}`, count: below(1000) })),
        ),
    },
    {
      every: 150,
      act: async () => {
        const one = id()
        const { version } = await client.records.getVersioned(one)
        await client.records.upsert([{ id: one, count: below(1000) }], { ifMatch: version })
      },
    },
    {
      every: 1000,
      act: async () => {
        const some = ids()
        await client.records.delete(some)
        if (chance(0.5)) await client.records.restore(some)
        else await client.records.upsert(some.map((one) => ({ id: one, word: 'w1', count: 1 })))
      },
    },
    { every: 2000, act: () => client.runs.materialize({ record_ids: ids() }) },
    {
      every: 10_000,
      act: async (signal) => {
        const { id: run } = await client.runs.start()
        for await (const event of client.runs.events(run, { signal })) if (event.kind === 'run.end') break
        await client.runs.failures(run)
      },
    },
    {
      every: 7000,
      act: async () => {
        const { id: run } = await client.runs.start({ record_ids: ids() })
        await client.runs.cancel(run)
      },
    },
    {
      every: 5000,
      act: () => read(client.records.export(pick(['csv', 'xlsx', 'parquet', 'ndjson', 'json']), {})),
    },
    { every: 30_000, act: () => read(client.records.export(pick(['prov-json', 'openlineage']))) },
    {
      every: 6000,
      act: async () => {
        const text = ['id,word,count', ...ids().map((one) => `${one},w${below(WORDS)},${below(1000)}`)].join(
          '\n',
        )
        const { run_id: run } = await client.records.import(new Blob([text]), { name: 'words.csv' })
        if (chance(0.3) && run !== null) await client.runs.revert(run)
      },
    },
    {
      every: 3000,
      act: async () => {
        const { id: proposal } = await client.proposals.propose({
          records: [{ id: id(), count: below(1000) }],
        })
        await (chance(0.5)
          ? client.proposals.accept(proposal, { actor: 'user:bob' })
          : client.proposals.reject(proposal))
      },
    },
    {
      every: 3000,
      act: () =>
        client.cells.review([{ record_id: id(), field: 'word' }], pick(['approved', 'flagged', null])),
    },
    {
      every: 5000,
      act: async () => {
        const view = await client.views.create({ name: `view ${below(1_000_000)}` })
        await client.views.delete(view.id)
      },
    },
    { every: 15_000, act: () => pick([field.rename, field.convert, field.removeAndRestore])() },
    {
      every: 1000,
      act: () =>
        client.records.upsert(ids().map((one) => ({ id: one, [field.name]: field.value(below(1000)) }))),
    },
    {
      every: 300,
      act: () =>
        client.records.list({
          limit: 200,
          fields: ['id', field.name],
          sort: pick([field.name, `-${field.name}`]),
          filter: `${field.name} IS NOT NULL`,
        }),
    },
    {
      every: 300,
      act: async () => {
        const { last } = await client.records.history()
        const as_of = below(last)
        await client.records.list({ limit: 500, as_of, changed: true })
        await client.records.get(id(), { as_of })
      },
    },
    {
      every: 20_000,
      act: async () => {
        const { size } = await client.log.makeCheckpoint()
        await client.log.proof({ record_id: id(), field: 'word' })
        await client.log.consistency(1 + below(size))
      },
    },
  ]
}

/** The field that is renamed, converted, removed and brought back while others read and write it. */
class ChangingField {
  readonly #client: Client
  #name = 'remark'
  #type: 'string' | 'integer' = 'string'

  constructor(client: Client) {
    this.#client = client
  }

  get name(): string {
    return this.#name
  }

  /** Returns a number as a value of its type. */
  value(number: number): string | number {
    return this.#type === 'string' ? String(number) : number
  }

  readonly rename = async (): Promise<void> => {
    const next = this.#name === 'remark' ? 'comment' : 'remark'
    await this.#client.definition.changeField(this.#name, { new_name: next })
    this.#name = next
  }

  readonly convert = async (): Promise<void> => {
    const next = this.#type === 'string' ? 'integer' : 'string'
    await this.#client.definition.changeField(this.#name, { logicalType: next })
    this.#type = next
  }

  readonly removeAndRestore = async (): Promise<void> => {
    const { definition } = this.#client
    const { fields } = await definition.removeField(this.#name, null, { dryRun: true })
    await definition.removeField(this.#name, fields[0]?.lost ?? 0)
    try {
      const { changes } = await definition.history({ limit: 1 })
      await definition.revert(changes[0]?.id ?? '')
    } catch (error) {
      throw new Error('the field was not restored', { cause: error })
    }
  }
}

async function useOf(server: ColophonProcess, directory: string): Promise<Use> {
  const [heap, rss] = await server.memory()
  const handles = readdirSync(`/proc/${server.pid}/fd`).filter((name) =>
    isOpen(`/proc/${server.pid}/fd/${name}`),
  )
  const wal = statSync(join(directory, 'sheet.db-wal'), { throwIfNoEntry: false })?.size ?? 0
  return {
    heapMiB: Math.round(heap / MIB),
    rssMiB: Math.round(rss / MIB),
    handles: handles.length,
    walMiB: Math.round(wal / MIB),
  }
}

function isOpen(path: string): boolean {
  try {
    return readlinkSync(path) !== ''
  } catch {
    return false
  }
}

function shown({ heapMiB, rssMiB, handles, walMiB }: Use): string {
  return `heap ${heapMiB} MiB, process ${rssMiB} MiB, ${handles} handles, write-ahead log ${walMiB} MiB`
}
