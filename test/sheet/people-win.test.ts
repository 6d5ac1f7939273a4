import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { seededRandom } from '../../src/store/suite/support/random.ts'
import { perEngine, readLog } from '../support/engine.ts'
import { lookup, openRunSheet, type RunSheet } from '../support/run-fixture.ts'

/** Enough for each way in which a record is edited; a run takes longer on PostgreSQL. */
const RECORDS = perEngine({ sqlite: 200, postgres: 80 })
/** Edits of any records that go along with each call, beside the edits of its own record. */
const EDITS_PER_CALL = 2

/** The derived fields, each computed from the one before. */
const INPUT = { b: 'a', c: 'b' } as const
type Target = keyof typeof INPUT
const TARGETS: readonly Target[] = ['b', 'c']

/** Computes the result of a derivation for its input. */
const computed = (target: Target, input: unknown): string => `${target}<${String(input)}>`

/** A call that has arrived and is not answered yet. */
interface Call {
  readonly id: string
  readonly target: Target
  /** Whether the cell or its input was written from the first to the last while the call was under way. */
  touched: boolean
  answered: boolean
}

/** Somebody who edits the sheet, above all the cells that are just being computed. */
class Editor {
  readonly #run: RunSheet
  readonly #random = seededRandom(28)
  readonly #calls = new Set<Call>()
  #value = 0
  readonly calls: Call[] = []

  constructor(run: RunSheet) {
    this.#run = run
  }

  /** Called while the API computes a response. */
  async during(id: string, target: Target): Promise<void> {
    const call: Call = { id, target, touched: false, answered: false }
    this.calls.push(call)
    this.#calls.add(call)
    const others = Array.from({ length: EDITS_PER_CALL }, () => this.#editAny())
    await Promise.all([this.#editOwn(call), ...others])
    call.answered = true
    this.#calls.delete(call)
  }

  async #editAny(): Promise<void> {
    const { pick, below } = this.#random
    const number = below(RECORDS)
    // Those are deleted in their time, and an edit would make them anew.
    if (isDeleted(number)) return
    await this.#write(`r${number}`, pick(['a', 'a', 'b', 'c', 'note', 'note']))
  }

  async #editOwn({ id, target }: Call): Promise<void> {
    const number = Number(id.slice(1))
    const input = INPUT[target]
    if (target === 'b' && isDeleted(number)) {
      await this.#touching(id, ['b'], () => this.#run.delete(id))
      if (number % 2 === 0) await this.#run.write({ id, a: `${id}.again` })
      return
    }
    switch ((target === 'b' ? number : Math.floor(number / 7)) % 7) {
      case 0:
        return
      case 1:
        return this.#write(id, target)
      case 2:
        return this.#write(id, input)
      case 3: {
        const before = await this.#run.value(id, input)
        await this.#write(id, input)
        return this.#write(id, input, before as JsonValue)
      }
      case 4:
        await this.#write(id, target)
        return this.#write(id, target, null)
      case 5:
        await Promise.all([this.#write(id, target), this.#write(id, input)])
        return
      case 6:
        return this.#write(id, 'note')
    }
  }

  /** Writes one field of a record, by hand, unless told otherwise with a value that was never there. */
  #write(id: string, field: string, value: JsonValue = `${id}.${(this.#value += 1)}`): Promise<void> {
    return this.#touching(id, [field], () => this.#run.write({ id, [field]: value }))
  }

  /** Does something to fields of a record, and notes which calls it came in the middle of. */
  async #touching(id: string, fields: readonly string[], edit: () => Promise<void>): Promise<void> {
    const about = [...this.#calls].filter(
      (call) => call.id === id && (fields.includes(call.target) || fields.includes(INPUT[call.target])),
    )
    await edit()
    for (const call of about) if (!call.answered) call.touched = true
  }
}

function isDeleted(number: number): boolean {
  return number % 11 === 10
}

interface Cell {
  value: JsonValue
  byHand: boolean
}

/** Replays the log from its start; returns the values, and the entries that should not be in it. */
class Replay {
  readonly records = new Map<string, Map<string, Cell>>()
  readonly computedCells: { readonly id: string; readonly field: string }[] = []

  constructor(imported: readonly JsonObject[]) {
    for (const record of imported) this.#apply(String(record['id']), record)
  }

  add(line: JsonObject): void {
    const id = String(line['record_id'])
    switch (line['source']) {
      case 'import':
        return
      case 'delete':
        this.records.delete(id)
        return
      case 'write':
        this.#apply(id, line['values'] as JsonObject)
        return
      default:
        this.#compute(id, line)
    }
  }

  /** The number of cells of derived fields that were last written by hand. */
  overridden(field: string): number {
    return this.records
      .values()
      .filter((cells) => cells.get(field)?.byHand === true)
      .toArray().length
  }

  #apply(id: string, values: JsonObject): void {
    const cells = this.records.get(id) ?? new Map<string, Cell>()
    for (const [field, value] of Object.entries(values)) cells.set(field, { value, byHand: value !== null })
    this.records.set(id, cells)
  }

  #compute(id: string, line: JsonObject): void {
    const field = line['field'] as Target
    const cells = this.records.get(id)
    assert.ok(cells, `seq ${String(line['seq'])}: a cell of ${id}, which is gone, was computed`)
    assert.notEqual(
      cells.get(field)?.byHand,
      true,
      `seq ${String(line['seq'])}: written over what a hand wrote`,
    )
    const input = cells.get(INPUT[field])?.value
    assert.equal(
      line['value'],
      computed(field, input),
      `seq ${String(line['seq'])}: not of the input of that time`,
    )
    cells.set(field, { value: line['value'], byHand: false })
    this.computedCells.push({ id, field })
  }
}

async function allRecords(run: RunSheet): Promise<readonly JsonObject[]> {
  return JSON.parse(String((await listRecords(run.sheet, { limit: 10_000 })).records)) as JsonObject[]
}

test('D28: values that people write during a run are kept, even hundreds of edits to the cells being computed', async (t) => {
  const records = Array.from({ length: RECORDS }, (_, number) => ({
    id: `r${number}`,
    a: `r${number}.start`,
  }))
  const byHand = (name: string): string => `{name: ${name}, logicalType: string, x-editable-by: ['user:*']}`
  const run = await openRunSheet(t, {
    properties: ['a: string', byHand('b'), byHand('c'), 'note: string'],
    records,
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'b') }),
  })
  const editor = new Editor(run)
  const answer = (path: string): { target: Target; input: string; json: JsonObject } => {
    const [target, input] = path.split('/').slice(1).map(decodeURIComponent) as [Target, string]
    return { target, input, json: { value: computed(target, input) } }
  }
  run.api.answer('*', async ({ path }) => {
    const { target, input, json } = answer(path)
    await editor.during(/r\d+/.exec(input)?.[0] ?? assert.fail(input), target)
    return { json }
  })
  const { materialized, failures } = await run.run()
  assert.deepEqual(failures, [])

  const replay = new Replay(records)
  for (const line of await readLog(run.directory)) replay.add(line)
  assert.equal(
    materialized,
    replay.computedCells.length,
    'D30: every cell that was computed is counted, once',
  )

  // Each cell is called for at most once in a run: of one that was touched during its call, nothing was written at all.
  const stored = new Set(replay.computedCells.map(({ id, field }) => `${id} ${field}`))
  const touched = editor.calls.filter((call) => call.touched)
  for (const { id, target } of touched) assert.ok(!stored.has(`${id} ${target}`), `${target} of ${id}`)
  assert.equal(new Set(editor.calls.map(({ id, target }) => `${id} ${target}`)).size, editor.calls.length)
  for (const target of TARGETS) {
    const count = (calls: readonly Call[]): number => calls.filter((call) => call.target === target).length
    assert.ok(
      count(touched) >= RECORDS / 5,
      `${count(touched)} cells of ${target} were edited during their call`,
    )
    const undisturbed = replay.computedCells.filter(({ field }) => field === target).length
    assert.ok(undisturbed >= RECORDS / 20, `${undisturbed} cells of ${target} were stored`)
    assert.equal((await run.status(target)).overridden, replay.overridden(target), target)
  }

  await checkValues(run, replay)
  run.api.answer('*', ({ path }) => ({ json: answer(path).json }))
  await run.run()
  for (const record of await allRecords(run)) {
    const cells = replay.records.get(String(record['id']))
    for (const target of TARGETS) {
      const cell = cells?.get(target)
      const input = record[INPUT[target]] ?? null
      const value = cell?.byHand === true ? cell.value : input === null ? null : computed(target, input)
      assert.equal(record[target], value, `${target} of ${String(record['id'])}`)
    }
  }
})

/** The sheet is what its log says, and the latest provenance entry of every cell explains its value (D34). */
async function checkValues(run: RunSheet, replay: Replay): Promise<void> {
  const records = await allRecords(run)
  assert.deepEqual(new Set(records.map(({ id }) => id)), new Set(replay.records.keys()))
  for (const record of records) {
    const id = String(record['id'])
    for (const field of ['a', 'b', 'c', 'note']) {
      const value = record[field] ?? null
      assert.equal(value, replay.records.get(id)?.get(field)?.value ?? null, `${field} of ${id}`)
      assert.equal((await run.entry(id, field))?.['value'] ?? null, value, `the entry of ${field} of ${id}`)
    }
  }
}
