import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Victim } from '../../test/kill/kill-harness.ts'
import { contractText } from '../../test/support/contract-with.ts'
import { startLocalApi, type LocalApi } from '../../test/support/local-api.ts'
import { ModelServer } from '../../test/support/model-server.ts'
import { unconfinable } from '../../test/support/script-hosts.ts'
import { writeSheet } from '../../test/support/sheet-fixture.ts'
import type { Campaign, Counts, Round, Setting } from '../campaign.ts'
import { NewLines } from '../support/new-lines.ts'
import { verifyPlace } from '../support/verify-place.ts'

const RECORDS = 60

/** A call takes up to so many milliseconds, so that several are under way at any moment. */
const CALL_MS = 6

/** A kill comes after at most so many calls, and within so many milliseconds after that. */
const MOST_CALLS = 260
const WITHIN_MS = 8

/** The kills after which a sheet is verified as a whole, and another one begins. */
const KILLS = 200

/** Rows of the table that cells are looked up in; each edit of all records takes the next one. */
const EDITS = KILLS

/** Answers each line with a word. */
const SCRIPT = `import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, inputs } = JSON.parse(line)
  console.log(JSON.stringify({ id, values: { script: 'script ' + inputs.word } }))
}
`

interface Stored {
  readonly id: string
  readonly word: string
  readonly code: string
  readonly [target: string]: string | null
}

/** A derivation of one kind: its file, the value that it must compute, and the requests that are paid for it. */
interface Kind {
  file(urls: { readonly api: string }): object
  value(record: Stored): string
  /** The requests, by what the servers count; absent for kinds that send none. */
  requests?(record: Stored): readonly string[]
}

const KINDS: Readonly<Record<string, Kind>> = {
  http: {
    file: ({ api }) => ({ kind: 'http', url: `${api}/http/{{ word }}`, response_path: 'value' }),
    value: ({ word }) => `http ${word}`,
    requests: ({ word }) => [`/http/${word}`],
  },
  model: {
    file: () => ({ kind: 'ai', model: 'small', prompt: '{{ word }}' }),
    value: ({ word }) => `model ${word}`,
    requests: ({ word }) => [`model ${word}`],
  },
  fallback: {
    file: ({ api }) => ({
      kind: 'first',
      steps: ['one', 'two'].map((step) => ({
        kind: 'http',
        url: `${api}/${step}/{{ word }}`,
        response_path: 'value',
      })),
    }),
    value: ({ word }) => `two ${word}`,
    requests: ({ word }) => [`/one/${word}`, `/two/${word}`],
  },
  formula: {
    file: () => ({ kind: 'sql', expression: `'formula ' || word` }),
    value: ({ word }) => `formula ${word}`,
  },
  query: {
    file: () => ({
      kind: 'sql',
      expression: `SELECT 'query ' || max(word) AS query FROM records WHERE word = :word`,
    }),
    value: ({ word }) => `query ${word}`,
  },
  table: {
    file: () => ({
      kind: 'import',
      source: 'table.csv',
      match: 'code',
      key_field: 'code',
      value_field: 'label',
    }),
    value: ({ code }) => `table ${code}`,
  },
  script: {
    file: () => ({ inputs: ['word'], kind: 'script', script: 'words', batch: true }),
    value: ({ word }) => `script ${word}`,
  },
}

/** Servers that are killed while they compute cells of every kind. */
export const killRuns: Campaign = {
  name: 'kill-runs',
  attack: '`kill -9` at a random moment of a run with every kind of derivation',
  claim: `After the next start each computed cell has its one line in the log, no request was sent twice by one process, and none again for a cell that was stored; in the end each cell has its right value. Every ${KILLS} kills \`colophon verify\` finds no difference.`,
  engines: ['sqlite', 'postgres'],
  goal: { kills: 2000 },
  start,
}

async function start(setting: Setting): Promise<Round> {
  const { random, scope } = setting
  const pause = (): Promise<void> => delay(random.below(CALL_MS * 1000) / 1000)
  const api = await startLocalApi(scope)
  api.answer('*', async ({ path }) => {
    await pause()
    const [, step = '', word = ''] = path.split('/')
    return { json: { value: step === 'one' ? null : `${step} ${word}` } }
  })
  const models = await new ModelServer(async ({ turns }) => {
    await pause()
    return { text: `model ${wordIn(turns)}` }
  }).listen()
  scope.after(() => models.close())
  let life = await Life.begin(setting, { api, models })
  return async () => {
    await life.round()
    if (life.kills === KILLS) {
      await life.end()
      life = await Life.begin(setting, { api, models })
    }
    return { kills: 1 } satisfies Counts
  }
}

interface Servers {
  readonly api: LocalApi
  readonly models: ModelServer
}

/** A sheet from its creation to its verification. */
class Life {
  kills = 0
  readonly #setting: Setting
  readonly #servers: Servers
  readonly #directory: string
  readonly #log: NewLines
  /** The number of lines, by record, field and value: each value is computed once. */
  readonly #lines = new Map<string, number>()
  /** Requests of cells that were stored, which nobody may send again. */
  readonly #paid = new Set<string>()
  #victim: Victim
  #edit = 0

  private constructor(setting: Setting, parts: { servers: Servers; directory: string; victim: Victim }) {
    this.#setting = setting
    this.#servers = parts.servers
    this.#directory = parts.directory
    this.#victim = parts.victim
    this.#log = new NewLines(parts.directory)
  }

  static async begin(setting: Setting, servers: Servers): Promise<Life> {
    const { scope } = setting
    const directory = await writeSheet(scope, {
      contract: contractText(
        ['word', 'code', ...Object.keys(KINDS)].map((name) => `{name: ${name}, logicalType: string}`),
      ),
      records: Array.from({ length: RECORDS }, (_, index) => recordOf(index, 0)),
      derivations: Object.fromEntries(
        Object.entries(KINDS).map(([target, { file }]) => [
          `${target}.yaml`,
          JSON.stringify({ targets: [target], ...file({ api: servers.api.url }) }),
        ]),
      ),
    })
    const rows = Array.from({ length: EDITS + 1 }, (_, edit) => `${edit},table ${edit}\n`)
    const model = { api: 'openai', url: servers.models.url, model: 'm', price: { input: 1, output: 1 } }
    const others = {
      'table.csv': `code,label\n${rows.join('')}`,
      'models.yaml': JSON.stringify({ models: { small: model } }),
      'scripts/words.mjs': SCRIPT,
    }
    for (const [path, text] of Object.entries(others)) {
      await mkdir(dirname(join(directory, path)), { recursive: true })
      await writeFile(join(directory, path), text)
    }
    return new Life(setting, { servers, directory, victim: await serve(setting, directory) })
  }

  /** Kills the server over a run, starts it again, and compares. */
  async round(): Promise<void> {
    await this.#killOverRun()
    this.kills += 1
    this.#checkRequests()
    this.#victim = await serve(this.#setting, this.#directory)
    if (await this.#check()) await this.#editAll()
  }

  /** Finishes the last run, and verifies the whole log. */
  async end(): Promise<void> {
    await this.#victim.post('/api/materialize', {})
    assert.ok(await this.#check(), 'a run that ends leaves no cell out')
    await this.#victim.kill()
    await verifyPlace(this.#directory)
    await rm(this.#directory, { recursive: true })
  }

  async #killOverRun(): Promise<void> {
    const { random } = this.#setting
    const { api, models } = this.#servers
    const run = this.#victim.post('/api/materialize', {})
    const calls = random.below(MOST_CALLS)
    let isOver = false
    void run.then(() => (isOver = true))
    while (!isOver && api.requests.length + models.requests.length < calls) await delay(1)
    await delay(random.below(WITHIN_MS * 1000) / 1000)
    await this.#victim.kill()
    await run
    // What the process had sent arrives even when it is gone.
    await api.idle()
  }

  /** Checks the requests of the killed process. */
  #checkRequests(): void {
    const { api, models } = this.#servers
    const sent = [
      ...api.requests.splice(0).map(({ path }) => path),
      ...models.requests.splice(0).map(({ turns }) => `model ${wordIn(turns)}`),
    ]
    assert.deepEqual(
      sent.filter((request, index) => sent.indexOf(request) !== index),
      [],
      'requests that one process sent twice',
    )
    assert.deepEqual(
      sent.filter((request) => this.#paid.has(request)),
      [],
      'requests for cells that were stored',
    )
  }

  /** Compares cells and log; returns whether all cells are computed. On PostgreSQL the run may go on meanwhile. */
  async #check(): Promise<boolean> {
    const known = new Set(this.#lines.keys())
    const { records } = await this.#victim.get<{ records: Stored[] }>('/api/records?limit=1000')
    for (const { record_id: id, field, value } of await this.#log.read()) {
      if (field === undefined || KINDS[field] === undefined) continue
      const line = JSON.stringify([id, field, value])
      this.#lines.set(line, (this.#lines.get(line) ?? 0) + 1)
    }
    const twice = [...this.#lines].filter(([, count]) => count > 1)
    assert.deepEqual(twice, [], 'computed values with several lines')
    let isDone = true
    for (const record of records) {
      for (const [target, { value, requests }] of Object.entries(KINDS)) {
        const line = JSON.stringify([record.id, target, value(record)])
        const isStored = record[target] === value(record)
        isDone &&= isStored
        if (isStored) {
          assert.ok(this.#lines.has(line), `a value has no line: ${line}`)
          for (const request of requests?.(record) ?? []) this.#paid.add(request)
        } else assert.ok(!known.has(line), `a line has no value: ${line}`)
      }
    }
    return isDone
  }

  /** Gives all records other inputs. */
  async #editAll(): Promise<void> {
    this.#edit += 1
    const records = Array.from({ length: RECORDS }, (_, index) => recordOf(index, this.#edit))
    await this.#victim.post('/api/records', { records })
  }
}

/** Returns the word in the prompt of a request, which marks it as data. */
function wordIn([prompt = '']: readonly string[]): string {
  return /w\d+-\d+/.exec(prompt)?.[0] ?? prompt
}

function recordOf(index: number, edit: number): Pick<Stored, 'id' | 'word' | 'code'> {
  return { id: `r${index}`, word: `w${edit}-${index}`, code: `${edit}` }
}

function serve({ scope }: Setting, directory: string): Promise<Victim> {
  const how = unconfinable === false ? 'confined' : 'unconfined'
  return Victim.start(scope, directory, [`--allow-scripts=${how}`])
}
