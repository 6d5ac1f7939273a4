import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { CellResult, WorkItem } from '../cell-work.ts'
import type { RunId } from '../stored-run.ts'
import { RANDOM_TIMES, seededRandom, type Random } from './support/random.ts'
import { computed, HUMAN, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

const OPERATIONS = 1500 * RANDOM_TIMES
const POINTS = 75 * RANDOM_TIMES
/** Concurrent operations. */
const TOGETHER = 100

const IDS = Array.from({ length: 40 }, (_, index) => `r${index}`)
const BY_HUMANS = 'customProperties: [{property: editableBy, value: ["human:*"]}]'
const PROPERTIES = [
  '{name: text, logicalType: string}',
  '{name: whole, logicalType: integer}',
  '{name: share, logicalType: number}',
  '{name: ok, logicalType: boolean}',
  '{name: list, logicalType: array}',
  '{name: thing, logicalType: object}',
  `{name: label, logicalType: string, ${BY_HUMANS}}`,
  `{name: score, logicalType: number, ${BY_HUMANS}}`,
]
const TARGETS = [target('label', ['text', 'whole']), target('score', ['list'])]

const VALUES: Readonly<Record<string, readonly JsonValue[]>> = {
  text: [null, '', 'x', 'Zoë \u2028 😀', '"\\\n\u0001'],
  whole: [null, 0, -7, 2 ** 53 - 1],
  share: [null, 468, 0.1 + 0.2, 1e21, 5e-324, -2.5],
  ok: [null, true, false],
  list: [null, [], [1, 'ü', null, { a: 1.5 }]],
  thing: [null, {}, { b: [true], a: { constructor: 'x' } }],
  label: [null, 'by hand', 'computed'],
  score: [null, 1, 1.25],
}

/** Tests past states against copies, after random operations. */
export function testHistoryAgainstCopies(open: OpenStore): void {
  const operations = OPERATIONS * (open.randomPart ?? 1)
  const points = POINTS * (open.randomPart ?? 1)
  test(`after ${operations} random operations, as_of at ${points} random points equals a recorded copy`, async (t) => {
    const records = IDS.slice(0, 12).map((id, index) => ({ id, text: id, label: index < 6 ? 'kept' : null }))
    const sheet = await TestSheet.make(t, open, { properties: PROPERTIES, targets: TARGETS, records })
    const random = seededRandom(20_260_303)
    const copies = new Copies(sheet.fields, records)
    const run = await sheet.importRun()
    for (let done = 0; done < operations; done += TOGETHER) await operate(sheet, copies, { random, run })

    const { first, last } = await sheet.store.history()
    assert.deepEqual([first, last], [0, copies.lastSeq])
    assert.ok(last > operations / 2, `there are ${last} entries only`)
    for (let point = 0; point < points; point += 1) {
      const seq = point === 0 ? last : random.below(last + 1)
      const copy = copies.at(seq)
      const what = `seed ${random.seed}, seq ${seq} of ${last}`
      const limit = random.pick([1, 2, 7, 20, copy.length, 1000].filter((size) => size > 0))
      assert.deepEqual(await walk(sheet, seq, limit), copy, `${what}, pages of ${limit}`)
      assert.equal(await sheet.store.countAsOf(seq), copy.length, what)
      for (const skip of [random.below(copy.length + 1), copy.length, copy.length + 5]) {
        const from = { fields: sheet.fields, limit, after: null, skip, seq, changed: true }
        const page = await sheet.store.pageAsOf(from)
        const found = JSON.parse(String(page.records)) as JsonObject[]
        assert.deepEqual(found, copy.slice(skip, skip + limit), `${what}, from ${skip}`)
        assert.deepEqual(
          page.changed,
          found.map((_, index) => copies.changedSince(copy[skip + index])),
          what,
        )
      }
      for (const id of [random.pick(IDS), random.pick(IDS), 'nobody']) {
        const record = await sheet.store.recordAsOf(id, sheet.fields, seq)
        const place = copy.findIndex((candidate) => candidate['id'] === id)
        assert.equal(await sheet.store.positionAsOf(id, seq), place < 0 ? null : place, `${what}, ${id}`)
        const wanted = copy.find((candidate) => candidate['id'] === id) ?? null
        assert.deepEqual(record === null ? null : JSON.parse(String(record)), wanted, `${what}, ${id}`)
      }
    }
  })
}

/** All records as of a seq, read in pages; every page but the last is full, and none follows the last. */
async function walk(sheet: TestSheet, seq: number, limit: number): Promise<JsonObject[]> {
  const records: JsonObject[] = []
  for (let after: number | null = null; ;) {
    const page = await sheet.store.pageAsOf({ fields: sheet.fields, limit, after, seq })
    const found = JSON.parse(String(page.records)) as JsonObject[]
    records.push(...found)
    assert.ok(found.length > 0 || after === null, 'a page followed, and nothing was on it')
    if (page.next === null) return records
    assert.equal(found.length, limit)
    after = page.next
  }
}

/** A sheet's values in a map, and a copy of them after every entry. */
class Copies {
  readonly #fields: readonly string[]
  readonly #records = new Map<string, JsonObject>()
  /** The same object for all states of a record from its creation to its deletion. */
  readonly #lives = new WeakMap<JsonObject, object>()
  /** By seq. Records are replaced and never changed, so that copies share them. */
  readonly #copies: (readonly JsonObject[])[] = [[]]

  constructor(fields: readonly string[], imported: readonly JsonObject[]) {
    this.#fields = fields
    for (const record of imported) this.#set(record['id'] as string, this.#whole(record))
    this.#entry()
  }

  get lastSeq(): number {
    return this.#copies.length - 1
  }

  at(seq: number): readonly JsonObject[] {
    return this.#copies[seq] ?? assert.fail(`no entry ${seq}`)
  }

  /** Inserts or merges; an unchanged record has no entry. */
  write(id: string, values: JsonObject): void {
    const before = this.#records.get(id)
    const record = this.#whole({ ...before, id, ...values })
    if (before !== undefined && this.#fields.every((name) => Object.is(record[name], before[name]))) return
    this.#set(id, record)
    this.#entry()
  }

  /** Writes records of an imported file: new ones that follow one another, and have no field that the first has not, share an entry. */
  import(records: readonly (JsonObject & { readonly id: string })[]): void {
    let open: Set<string> | null = null
    for (const { id, ...values } of records) {
      const filled = this.#fields.filter((name) => name !== 'id' && (values[name] ?? null) !== null)
      const isNew = !this.#records.has(id)
      if (isNew && open !== null && filled.every((name) => open?.has(name))) {
        this.#copies.pop()
        this.#set(id, this.#whole({ id, ...values }))
        this.#entry()
        continue
      }
      const before = this.lastSeq
      this.write(id, values)
      if (isNew) open = new Set(filled)
      else if (this.lastSeq > before) open = null
    }
  }

  compute(id: string, values: JsonObject): void {
    this.#set(id, this.#whole({ ...this.#records.get(id), ...values }))
    this.#entry()
  }

  delete(id: string): void {
    if (this.#records.delete(id)) this.#entry()
  }

  /** Returns the fields that have another value in the last copy; null for a record that was deleted since. */
  changedSince(record: JsonObject | undefined): string[] | null {
    const now = record && this.#records.get(record['id'] as string)
    if (record === undefined || now === undefined || this.#lives.get(now) !== this.#lives.get(record))
      return null
    return this.#fields.filter((name) => !isDeepStrictEqual(now[name], record[name]))
  }

  #set(id: string, record: JsonObject): void {
    const before = this.#records.get(id)
    this.#lives.set(record, (before && this.#lives.get(before)) ?? {})
    this.#records.set(id, record)
  }

  #whole(record: JsonObject): JsonObject {
    return Object.fromEntries(this.#fields.map((name) => [name, record[name] ?? null]))
  }

  #entry(): void {
    this.#copies.push([...this.#records.values()])
  }
}

/** Carries out some operations on the store, which takes them in the order in which they are sent, and on the copies. */
async function operate(
  sheet: TestSheet,
  copies: Copies,
  { random, run }: { readonly random: Random; readonly run: RunId },
): Promise<void> {
  const { field, inputs } = random.pick(TARGETS)
  let work = await sheet.store.work({
    targets: [field],
    inputs,
    force: random.chance(0.5),
    state: null,
    after: null,
    limit: 100,
    only: null,
  })
  const commit = await sheet.commitOf()
  const under: Promise<unknown>[] = []
  // Computed cells first: nothing is written between reading the work and its results (D28).
  let left = TOGETHER
  for (; left > TOGETHER / 2 && work.length > 0; left -= 1) {
    const items = work.slice(0, 1 + random.below(2))
    work = work.slice(items.length)
    const cells = items.map((item) => computedCell(item, field, { sheet, copies, random }))
    const stored = items.map(({ cells: [cell] }) => ({
      outcome: 'stored',
      ...(cell?.state === 'overridden' && { overwrote: true }),
    }))
    under.push(
      sheet.store.commitCells({ ...commit, cells }).then((outcomes) => assert.deepEqual(outcomes, stored)),
    )
  }
  for (; left > 0; left -= 1) {
    if (random.chance(0.25)) {
      const ids = Array.from({ length: 1 + random.below(3) }, () => random.pick(IDS))
      for (const id of new Set(ids)) copies.delete(id)
      under.push(sheet.store.delete(ids, HUMAN))
    } else if (random.chance(0.2)) {
      const records = Array.from({ length: 1 + random.below(8) }, () => writeOf(random))
      copies.import(records)
      under.push(sheet.importRecords(records, run))
    } else {
      const records = Array.from({ length: 1 + random.below(3) }, () => writeOf(random))
      for (const { id, ...values } of records) copies.write(id, values)
      under.push(sheet.write(records))
    }
  }
  await Promise.all(under)
}

function computedCell(
  item: WorkItem,
  field: string,
  { sheet, copies, random }: { sheet: TestSheet; copies: Copies; random: Random },
): CellResult {
  const value = random.pick(VALUES[field] ?? [])
  copies.compute(item.id, { [field]: value })
  return sheet.result(item, field, computed(value, `${item.id} ${JSON.stringify(value)}`))
}

/** Returns a new record, a change, a cleared field, or an overridden cell. */
function writeOf(random: Random): JsonObject & { readonly id: string } {
  const id = random.pick(IDS)
  const written = Object.entries(VALUES).filter(() => random.chance(0.3))
  return { ...Object.fromEntries(written.map(([name, values]) => [name, random.pick(values)])), id }
}
