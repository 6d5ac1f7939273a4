import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { readCellStates } from '../../src/sheet/cells/read-cell-states.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { RANDOM_TIMES, seededRandom, type Random } from '../../src/store/suite/support/random.ts'
import { PRICE } from '../support/ai-fixture.ts'
import { CellOracle, csvOf, lookUpPlan, type OraclePlan, type OracleRows } from '../support/cell-oracle.ts'
import { contractText } from '../support/contract-with.ts'
import { openOnEngine, perEngine } from '../support/engine.ts'
import { startLocalApi } from '../support/local-api.ts'
import { ModelServer } from '../support/model-server.ts'
import { onEnd } from '../support/on-end.ts'
import { RunSheet } from '../support/run-fixture.ts'
import { unconfinable } from '../support/script-hosts.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

/** The records of the sheet; a few suffice to find an error, and many to find one of pages and batches. */
const RECORDS = Number(process.env['COLOPHON_RANDOM_RECORDS'] ?? 24)

/** The edits, unless the environment has another number. */
const EDITS = perEngine({ sqlite: 100, postgres: 30 })

const EDITS_PER_BATCH = 5

/** With more records, the states of all are compared before each run and after this many batches; beside that the counts, and some of them. */
const MOST_WHOLE = 1000
const WHOLE_EVERY = 10
const SAMPLE = 200

/** The most records that a run is asked for. */
const MAX_IDS = 10_000
const ACTOR = 'user:ann'
const KEYS = ['a', 'b', 'c', 'd', 'e']
const WORDS = [...Array.from({ length: 12 }, (_, index) => `word${index}`), 'bad']
const LABELS = ['x', 'y', 'z']

/** The targets with numbers. */
const NUMBERS = ['formula', 'query']

/** Answers each line with the word behind a prefix, which edits of the script change. */
const scriptText = (prefix: string): string => `import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, inputs } = JSON.parse(line)
  console.log(JSON.stringify({ id, values: { script: ${JSON.stringify(prefix)} + inputs.word } }))
}
`

interface SheetRecord {
  word: string
  count: number
  code: string | null
}

/** A derivation of one kind, with all that its cells are computed from. */
interface KindOfCell {
  readonly inputs: readonly (keyof SheetRecord)[]
  /** The fields of all records that a query reads, which make all of its cells stale. */
  readonly reads?: readonly (keyof SheetRecord)[]
  /** The file without its targets, as it is now. */
  file(): JsonObject
  plan(record: SheetRecord, file: string): OraclePlan
  /** Makes the next file another one, after which cells are planned anew; absent where each edit of the file makes all cells stale. */
  redefine?(): void
}

/** The definitions and other sheets as they are now. */
interface World {
  readonly records: Map<string, SheetRecord>
  readonly rows: Readonly<Record<'table' | 'sheet', OracleRows>>
  model: string
  price: number
  prompt: string
  script: string
  /** The label that the first step of the fallback refuses, and the factor of its second. */
  steps: { refused: string; factor: number }
}

/** Returns a derivation of each kind, by its target. Another kind is an entry here, and in `#editSource` where it has sources. */
function kindsOf(
  world: World,
  { api, other, random }: { readonly api: string; readonly other: string | null; readonly random: Random },
): Record<string, KindOfCell> {
  const from = (...parts: readonly JsonValue[]): OraclePlan => ({ from: JSON.stringify(parts) })
  const lookUp = { match: 'code', key_field: 'code', value_field: 'label' }
  const kinds: Record<string, KindOfCell> = {
    http: {
      inputs: ['word'],
      file: () => ({ inputs: ['word'], kind: 'http', url: `${api}/{{ word }}`, response_path: 'value' }),
      plan: ({ word }, file) => (word === 'bad' ? 'failed' : from(file, word)),
    },
    formula: {
      inputs: ['count'],
      file: () => ({ kind: 'sql', expression: 'count * 2' }),
      plan: ({ count }, file) => from(file, count),
    },
    query: {
      inputs: ['code', 'count'],
      reads: ['code', 'count'],
      file: () => ({
        kind: 'sql',
        expression: 'SELECT count(*) AS query FROM records WHERE code = :code AND count > :count',
      }),
      plan: (_, file) => from(file),
    },
    table: {
      inputs: ['code'],
      file: () => ({ kind: 'import', source: 'table.csv', ...lookUp }),
      plan: ({ code }, file) => lookUpPlan(world.rows.table, code, file),
    },
    script: {
      inputs: ['word'],
      file: () => ({ inputs: ['word'], kind: 'script', script: 'prefix', batch: true }),
      plan: ({ word }, file) => from(file, word, world.script),
    },
    model: {
      inputs: ['word'],
      file: () => ({ kind: 'ai', model: 'small', prompt_ref: 'prompts/word.md' }),
      plan: ({ word }, file) => from(file, word, world.prompt, world.model),
    },
    fallback: {
      inputs: ['code', 'count', 'word'],
      file: () => ({
        kind: 'first',
        steps: [
          {
            kind: 'import',
            source: 'table.csv',
            ...lookUp,
            accept: `fallback <> '${world.steps.refused}' AND word > 'word3'`,
          },
          { kind: 'sql', expression: `'n' || (count * ${world.steps.factor})` },
        ],
      }),
      plan({ code, count, word }) {
        const { refused, factor } = world.steps
        const first = lookUpPlan(world.rows.table, code)
        const isComputed = typeof first === 'object'
        const link = isComputed ? first.from : null
        const isRefused = world.rows.table.get(code ?? '')?.[0] === refused || word <= 'word3'
        const isAccepted = isComputed && !isRefused
        return isAccepted ? from(refused, word, link) : from(refused, word, link, factor, count)
      },
      redefine() {
        world.steps = random.chance(0.5)
          ? { ...world.steps, refused: random.pick(LABELS) }
          : { ...world.steps, factor: random.below(3) }
      },
    },
  }
  // Sheets in PostgreSQL have no sheets beside them.
  if (other === null) return kinds
  const sheet: KindOfCell = {
    inputs: ['code'],
    file: () => ({ kind: 'cross_sheet', source_sheet: `../${other}`, ...lookUp }),
    plan: ({ code }, file) => lookUpPlan(world.rows.sheet, code, file),
  }
  return { ...kinds, sheet }
}

test('D32: random edits make exactly the cells of each kind stale that would be computed from something else', async (t) => {
  const edits = Number(process.env['COLOPHON_RANDOM_EDITS'] ?? EDITS * RANDOM_TIMES)
  const random = seededRandom(20_261_124)
  const edited = await EditedSheet.open(t, random)
  await edited.check('new')
  await edited.run({ isWhole: true })
  await edited.check('computed')
  for (let batch = 0; batch < edits / EDITS_PER_BATCH; batch += 1) {
    const done: string[] = []
    for (let edit = 0; edit < EDITS_PER_BATCH; edit += 1) done.push(await edited.edit())
    const isRun = random.chance(0.12)
    const isWhole = isRun || batch % WHOLE_EVERY === WHOLE_EVERY - 1
    await edited.check(`batch ${batch}: ${done.join(', ')}`, { isWhole })
    if (isRun) {
      await edited.run()
      await edited.check(`run after batch ${batch}`)
    }
  }
  // Fewer edits may leave a state out.
  if (RANDOM_TIMES < 1) return
  for (const [target, states] of edited.seen) {
    for (const state of ['fresh', 'stale', 'missing'])
      assert.ok(states.has(state), `no cell of ${target} was ${state}`)
  }
  const all = [...edited.seen.values()].flatMap((states) => [...states])
  for (const state of ['blocked', 'failed', 'overridden'])
    assert.ok(all.includes(state), `no cell was ${state}`)
})

/** A sheet with a derivation of each kind, and the states that its cells must have. */
class EditedSheet {
  /** The states that cells had, by target. */
  readonly seen = new Map<string, Set<string>>()
  readonly #random: Random
  readonly #world: World
  readonly #run: RunSheet
  readonly #other: Sheet | null
  readonly #models: (world: World) => string
  readonly #kinds: Readonly<Record<string, KindOfCell>>
  readonly #files: Map<string, string>
  readonly #oracles: ReadonlyMap<string, CellOracle>
  #created = RECORDS
  #changes = 0
  /** The records that were edited since the last check. */
  readonly #edited = new Set<string>()

  private constructor(parts: {
    random: Random
    world: World
    run: RunSheet
    other: Sheet | null
    models: (world: World) => string
    kinds: Readonly<Record<string, KindOfCell>>
    files: Map<string, string>
  }) {
    const { random, world, run, other, models, kinds, files } = parts
    this.#random = random
    this.#world = world
    this.#run = run
    this.#other = other
    this.#models = models
    this.#kinds = kinds
    this.#files = files
    this.#oracles = new Map(
      Object.entries(kinds).map(([target, { plan }]) => [
        target,
        new CellOracle([...world.records.keys()], (id) =>
          plan(world.records.get(id) as SheetRecord, files.get(target) ?? ''),
        ),
      ]),
    )
  }

  static async open(t: TestContext, random: Random): Promise<EditedSheet> {
    const rows = (): OracleRows => new Map(KEYS.slice(0, 4).map((key) => [key, ['x']]))
    const ids = Array.from({ length: RECORDS }, (_, index) => `r${index}`)
    const records = new Map(ids.map((id) => [id, randomRecord(random)]))
    records.set('r0', { word: 'bad', count: 0, code: null })
    const world: World = {
      records,
      rows: { table: rows(), sheet: rows() },
      model: 'one',
      price: PRICE.input,
      prompt: 'About {{ word }}.',
      script: '1 ',
      steps: { refused: 'z', factor: 1 },
    }
    const api = await startLocalApi(t)
    api.answer('*', ({ path }) =>
      path === '/bad' ? { status: 404, json: {} } : { json: { value: path.slice(1) } },
    )
    const server = await new ModelServer(({ turns }) => ({ text: `${turns[0]?.length}` })).listen()
    onEnd(t, () => server.close())
    const hasOthers = perEngine({ sqlite: true, postgres: false })
    const other = hasOthers ? await openOther(t, world.rows.sheet) : null
    const kinds = kindsOf(world, { api: api.url, other: other?.name ?? null, random })
    const files = new Map(
      Object.entries(kinds).map(([target, { file }]) => [target, textOf({ targets: [target], ...file() })]),
    )
    const models = ({ model, price }: World): string =>
      textOf({
        models: { small: { api: 'openai', url: server.url, model, price: { ...PRICE, input: price } } },
      })
    const targets = Object.keys(kinds).map(
      (name) =>
        `{name: ${name}, logicalType: ${NUMBERS.includes(name) ? 'integer' : 'string'}, x-editable-by: ['user:*']}`,
    )
    const directory = await writeSheet(t, {
      contract: contractText([
        '{name: word, logicalType: string}',
        '{name: count, logicalType: integer}',
        '{name: code, logicalType: string}',
        ...targets,
      ]),
      records: ids.map((id) => ({ id, ...records.get(id) })),
      derivations: Object.fromEntries([...files].map(([target, text]) => [`${target}.yaml`, text])),
    })
    const others = {
      'models.yaml': models(world),
      'prompts/word.md': world.prompt,
      'scripts/prefix.mjs': scriptText(world.script),
      'table.csv': csvOf(world.rows.table),
    }
    for (const [path, text] of Object.entries(others)) {
      await mkdir(dirname(join(directory, path)), { recursive: true })
      await writeFile(join(directory, path), text)
    }
    const scripts = unconfinable === false ? 'confined' : 'unconfined'
    const sheet = await openOnEngine(directory, { scripts })
    onEnd(t, () => sheet.close())
    const run = await RunSheet.of({ sheet, api, directory })
    return new EditedSheet({ random, world, run, other, models, kinds, files })
  }

  /** Runs all derivations over all records, or over half of them. */
  async run({ isWhole = this.#random.chance(0.3) } = {}): Promise<void> {
    const ids = [...this.#world.records.keys()]
    const some = isWhole ? ids : ids.filter(() => this.#random.chance(0.5)).slice(0, MAX_IDS)
    if (some.length === 0) return
    await this.#run.start({ recordIds: isWhole ? null : some })
    for (const oracle of this.#oracles.values()) oracle.ran(some)
  }

  /** Makes a random edit, which the service has noticed then; returns what it was. */
  async edit(): Promise<string> {
    const kind = this.#random.below(10)
    if (kind < 5) return this.#editRecord()
    this.#changes += 1
    const what = kind < 6 ? await this.#editDerivation() : await this.#editSource()
    const [id = ''] = this.#world.records.keys()
    await readCellStates(this.#run.sheet, { ids: [id], targets: null })
    return what
  }

  /** Asserts that the service reports the counts of all cells by state, and the states of all or of some records, as they must be. */
  async check(when: string, { isWhole = true } = {}): Promise<void> {
    const all = [...this.#world.records.keys()]
    const edited = all.filter((id) => this.#edited.has(id))
    this.#edited.clear()
    const sample = (): string[] => Array.from({ length: SAMPLE }, () => this.#random.pick(all))
    const ids = isWhole || all.length <= MOST_WHOLE ? all : [...new Set([...edited, ...sample()])]
    const found = new Map<string, Readonly<Record<string, string>>>()
    for (let from = 0; from < ids.length; from += 1000) {
      const some = ids.slice(from, from + 1000)
      for (const [id, states] of await readCellStates(this.#run.sheet, { ids: some, targets: null }))
        found.set(id, states)
    }
    for (const [target, oracle] of this.#oracles) {
      const expected = oracle.states(ids)
      const states = ids.map((id) => found.get(id)?.[target] ?? 'none')
      const at = states.findIndex((state, index) => state !== expected[index])
      const id = ids[at] ?? ''
      const record = JSON.stringify(this.#world.records.get(id))
      assert.equal(states[at], expected[at], `${target} of ${id} ${record} after ${when}`)
      this.seen.set(target, new Set([...(this.seen.get(target) ?? []), ...expected]))
      const { fresh, stale, missing, failed, overridden } = await this.#run.status(target)
      assert.deepEqual(
        { fresh, stale, missing, failed, overridden },
        oracle.counts(),
        `${target} after ${when}`,
      )
    }
    await this.#run.checkStatus()
  }

  async #editRecord(): Promise<string> {
    const { records } = this.#world
    const id = this.#random.pick([...records.keys()])
    this.#edited.add(id)
    const record = records.get(id) as SheetRecord
    switch (this.#random.below(8)) {
      case 0: {
        const target = this.#random.pick([...this.#oracles.keys()])
        const oracle = this.#oracles.get(target) as CellOracle
        this.#changes += 1
        const hand = NUMBERS.includes(target) ? -this.#changes : `hand ${this.#changes}`
        const value = oracle.isOverridden(id) ? null : hand
        await this.#run.write({ id, [target]: value })
        oracle.writtenByHand(id, value)
        return `${target} of ${id} written by hand`
      }
      case 1: {
        await this.#run.delete(id)
        records.delete(id)
        for (const oracle of this.#oracles.values()) oracle.deleted(id)
        // Sometimes the same id comes back, as another record.
        const isSame = this.#random.chance(0.3)
        const next = isSame ? id : `r${(this.#created += 1)}`
        const made = randomRecord(this.#random)
        await this.#run.write({ id: next, ...made })
        records.set(next, made)
        this.#edited.add(next)
        for (const oracle of this.#oracles.values()) oracle.created(next)
        for (const target of this.#oracles.keys())
          if (this.#kinds[target]?.reads !== undefined) this.#oracles.get(target)?.redefined()
        return `${id} deleted, ${next} created`
      }
      default: {
        const made = randomRecord(this.#random)
        const field = this.#random.pick(['word', 'count', 'code'] as const)
        if (record[field] === made[field]) return `${field} of ${id} left`
        await this.#run.write({ id, [field]: made[field] })
        Object.assign(record, { [field]: made[field] })
        for (const [target, oracle] of this.#oracles) {
          const { inputs, reads } = this.#kinds[target] as KindOfCell
          if (reads?.includes(field) === true) oracle.redefined()
          else if (inputs.includes(field)) oracle.written(id)
        }
        return `${field} of ${id}`
      }
    }
  }

  async #editDerivation(): Promise<string> {
    const target = this.#random.pick([...this.#oracles.keys()])
    const kind = this.#kinds[target]
    const oracle = this.#oracles.get(target)
    kind?.redefine?.()
    const text = textOf({ targets: [target], ...kind?.file() }, `# ${this.#changes}\n`)
    await this.#run.edit(`derivations/${target}.yaml`, text)
    this.#files.set(target, text)
    if (kind?.redefine === undefined) oracle?.redefined()
    else oracle?.edited()
    return `derivation of ${target}`
  }

  async #editSource(): Promise<string> {
    const world = this.#world
    const edited = (target: string): string => {
      this.#oracles.get(target)?.edited()
      return `source of ${target}`
    }
    switch (this.#random.below(this.#other === null ? 5 : 7)) {
      case 0:
        world.script = `${this.#random.below(3)} `
        await this.#run.edit('scripts/prefix.mjs', scriptText(world.script))
        return edited('script')
      case 1:
        world.prompt = `About ${this.#random.below(3)} {{ word }}.`
        await this.#run.edit('prompts/word.md', world.prompt)
        return edited('model')
      case 2:
        if (this.#random.chance(0.5)) world.price = this.#random.below(9) + 1
        else world.model = this.#random.pick(['one', 'two', 'three'])
        await this.#run.edit('models.yaml', this.#models(world))
        return edited('model')
      case 3:
      case 4:
        this.#editRows(world.rows.table)
        await this.#run.edit('table.csv', csvOf(world.rows.table))
        edited('fallback')
        return edited('table')
      default: {
        const [key, labels] = this.#editRows(world.rows.sheet)
        if (this.#other !== null) await setRows(this.#other, key, labels)
        return edited('sheet')
      }
    }
  }

  #editRows(rows: OracleRows): readonly [key: string, labels: readonly string[]] {
    const key = this.#random.pick(KEYS)
    const count = this.#random.pick([0, 1, 1, 1, 2])
    const labels = Array.from({ length: count }, () => this.#random.pick(LABELS))
    rows.set(key, labels)
    return [key, labels]
  }
}

function randomRecord(random: Random): SheetRecord {
  return { word: random.pick(WORDS), count: random.below(50), code: random.pick([...KEYS, null]) }
}

function textOf(file: JsonObject, comment = ''): string {
  return `${comment}${JSON.stringify(file, null, 2)}\n`
}

async function openOther(t: TestContext, rows: OracleRows): Promise<Sheet> {
  const directory = await writeSheet(t, {
    contract: contractText(['{name: code, logicalType: string}', '{name: label, logicalType: string}']),
    records: [...rows].map(([code, [label = null]]) => ({ id: `${code}0`, code, label })),
    derivations: {},
  })
  const other = await openSheet(directory)
  onEnd(t, () => other.close())
  return other
}

/** Replaces the rows of a key in another sheet. */
async function setRows(other: Sheet, code: string, labels: readonly string[]): Promise<void> {
  await deleteRecords(other, { ids: [`${code}0`, `${code}1`], actor: ACTOR })
  const records = labels.map((label, index) => ({ id: `${code}${index}`, code, label }))
  if (records.length > 0) await upsertRecords(other, { records, actor: ACTOR })
}
