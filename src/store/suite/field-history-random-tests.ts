import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { convertValue } from '../../contract/values/convert-value.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { ServiceError } from '../../errors/service-error.ts'
import type { FieldChanges } from '../field-changes.ts'
import type { SheetStore } from '../sheet-store.ts'
import { RANDOM_TIMES, seededRandom, type Random } from './support/random.ts'
import {
  checkEntriesOfRecord,
  computed,
  entriesOf,
  HUMAN,
  target,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const OPERATIONS = 90 * RANDOM_TIMES
const IDS = ['r0', 'r1', 'r2', 'r3', 'r4', 'r5']
const NAMES = ['a', 'b', 'c', 'd', 'e']
const TYPES = ['string', 'number', 'boolean', 'timestamp', 'array'] as const

type Type = (typeof TYPES)[number]

const VALUES: Readonly<Record<Type, readonly JsonValue[]>> = {
  string: [null, '1', '02', 'x', '2024-01-01T00:00:00+02:00', '["y"]'],
  number: [null, 1, 0, 2.5],
  boolean: [null, true, false],
  timestamp: [null, '2024-01-01T00:00:00+02:00', '2024-01-02T10:00:00Z'],
  array: [null, ['y'], [1, { b: 1, a: 2 }], ['2024-01-01T00:00:00.50Z']],
}

/** A field of the model, with one identity for all of its names. */
interface ModelField {
  readonly identity: number
  type: Type
}

/** A field that was removed or converted, with its values at that time. */
interface Kept {
  readonly change: number
  readonly field: ModelField
  readonly name: string
  readonly type: Type
  readonly removed: boolean
  readonly values: ReadonlyMap<string, JsonValue>
}

/** A proposal that waits. */
interface Waiting {
  readonly id: string
  readonly recordId: string
  /** Whether the record existed when it was made, after this line of the log. */
  readonly existed: boolean
  readonly seq: number
  /** By identity: the value then, the proposed one, and the type of both. */
  readonly values: ReadonlyMap<
    number,
    { readonly was: JsonValue; readonly proposed: JsonValue; readonly type: Type }
  >
}

/** The state after a line of the log. */
interface Copy {
  readonly seq: number
  /** Identities by name, with their types. */
  readonly fields: ReadonlyMap<string, ModelField>
  /** Values by identity, of the records that exist, in the order of creation. */
  readonly records: ReadonlyMap<string, ReadonlyMap<number, JsonValue>>
}

/** Tests the history and the proposals of fields that are renamed, removed, converted and restored against a model. */
export function testFieldHistory(open: OpenStore): void {
  const operations = Math.ceil(OPERATIONS * (open.randomPart ?? 1))
  for (const seed of RANDOM_TIMES > 1 ? [1, 2] : [1]) {
    test(`after ${operations} random writes and changes of fields, the history is that of a model (seed ${seed})`, async (t) => {
      const records = IDS.slice(0, 3).map((id, index) => ({ id, a: `${index}`, b: index }))
      const sheet = await TestSheet.make(t, open, {
        properties: ['{name: a, logicalType: string}', '{name: b, logicalType: number}', COMPUTED],
        targets: TARGETS,
        records,
      })
      const model = new Model(sheet, seededRandom(seed), records)
      for (let done = 0; done < operations; done += 1) await model.operate()
      await model.check(sheet.store)
      await sheet.reopen()
      const directory = mkdtempSync(join(tmpdir(), 'colophon-fields-'))
      t.after(() => rmSync(directory, { recursive: true }))
      await sheet.store.snapshot(directory)
      const { contract } = sheet
      const options = {
        contract,
        targets: TARGETS,
        actor: HUMAN,
        lockTimeoutMs: 5000,
        onSourceDiffers: () => undefined,
      }
      const copy = await open(directory, options)
      try {
        await model.check(copy)
      } finally {
        await copy.close()
      }
    })
  }
}

const BY_HUMANS = 'customProperties: [{property: editableBy, value: ["human:*"]}]'
const COMPUTED = `{name: computed, logicalType: string, ${BY_HUMANS}}`
const TARGETS = [target('computed', [])]

class Model {
  readonly #sheet: TestSheet
  readonly #random: Random
  #fields = new Map<string, ModelField>()
  #records = new Map<string, Map<number, JsonValue>>()
  #kept: Kept[] = []
  #deleted = new Map<string, Map<number, JsonValue>>()
  readonly #copies: Copy[] = []
  #waiting: Waiting[] = []
  /** Identities of fields that were converted, with the line of the log. */
  readonly #conversions: { readonly identity: number; readonly seq: number }[] = []
  #identities = 0
  #changes = 0

  constructor(sheet: TestSheet, random: Random, records: readonly JsonObject[]) {
    this.#sheet = sheet
    this.#random = random
    for (const [name, type] of [
      ['a', 'string'],
      ['b', 'number'],
      ['computed', 'string'],
    ] as const)
      this.#add(name, type)
    for (const { id, ...values } of records) {
      const record = new Map(
        [...this.#fields].map(([name, { identity }]) => [identity, values[name] ?? null]),
      )
      this.#records.set(id as string, record)
    }
    this.#copy(1)
  }

  #add(name: string, type: Type): ModelField {
    const field = { identity: (this.#identities += 1), type }
    this.#fields.set(name, field)
    return field
  }

  #copy(seq: number): void {
    this.#copies.push({
      seq,
      fields: new Map([...this.#fields].map(([name, field]) => [name, { ...field }])),
      records: new Map([...this.#records].map(([id, values]) => [id, new Map(values)])),
    })
  }

  async #copyNow(): Promise<void> {
    this.#copy((await this.#sheet.store.history()).last)
  }

  /** Names of fields that are written and changed; the computed one is only renamed. */
  #ordinary(): string[] {
    return [...this.#fields.keys()].filter((name) => name !== 'computed')
  }

  async operate(): Promise<void> {
    const { chance, pick } = this.#random
    if (chance(0.35))
      await pick([this.#rename, this.#remove, this.#convert, this.#restore, this.#append]).call(this)
    else
      await pick([
        this.#write,
        this.#write,
        this.#delete,
        this.#revert,
        this.#bringBack,
        this.#compute,
        this.#propose,
        this.#decide,
      ]).call(this)
  }

  async #propose(): Promise<void> {
    const recordId = this.#random.pick(IDS)
    const present = this.#records.get(recordId)
    const values = new Map<number, { was: JsonValue; proposed: JsonValue; type: Type }>()
    const record: Record<string, JsonValue> = { id: recordId }
    for (const name of this.#ordinary()) {
      const { identity, type } = this.#fields.get(name) as ModelField
      const was = present?.get(identity) ?? null
      const proposed = this.#random.pick(VALUES[type])
      if (JSON.stringify(was) === JSON.stringify(proposed) || this.#random.chance(0.4)) continue
      values.set(identity, { was, proposed, type })
      record[name] = proposed
    }
    if (values.size === 0) return
    const proposal = { change: { records: [record] }, actor: 'agent:proposer', note: null }
    const id = await this.#sheet.store.proposals.propose(proposal)
    const { seq = 0 } = this.#copies.at(-1) ?? {}
    this.#waiting.push({ id, recordId, existed: present !== undefined, seq, values })
  }

  /** Accepts a proposal: what it proposes is written under the present names, or nothing is. */
  async #decide(): Promise<void> {
    const { proposals } = this.#sheet.store
    const proposal = this.#waiting.shift()
    if (proposal === undefined) return
    const { id, recordId, existed, seq, values } = proposal
    const touched = [...this.#fields].flatMap(([name, { identity, type }]) => {
      const value = values.get(identity)
      return value === undefined ? [] : [{ name, identity, now: type, ...value }]
    })
    const detail = await proposals.detail(id)
    const shown = detail?.records.flatMap(({ fields }) => fields.map(({ field }) => field)) ?? []
    assert.deepEqual(new Set(shown), new Set(touched.map(({ name }) => name)), `fields of proposal ${id}`)
    const present = this.#records.get(recordId)
    const isSame = existed ? present !== undefined && this.#isSameLife(recordId, seq) : present === undefined
    const isConverted = touched.some(({ identity }) =>
      this.#conversions.some((each) => each.identity === identity && each.seq > seq),
    )
    const isMoved = touched.some(
      ({ identity, was }) => JSON.stringify(present?.get(identity) ?? null) !== JSON.stringify(was),
    )
    const isAccepted = await proposals.accept({ id, actor: HUMAN }).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof ServiceError)) throw error
        return false
      },
    )
    // Whether a converted value is the one of then depends on its way through the types.
    if (!isSame || !isConverted) assert.equal(isAccepted, isSame && !isMoved, `proposal ${id}`)
    if (!isAccepted) return proposals.reject({ id, actor: HUMAN, reason: null })
    const all = [...this.#fields.values()].map(({ identity }): [number, JsonValue] => [identity, null])
    const written = present ?? new Map(all)
    for (const { name, identity, now, type, proposed } of touched) {
      written.set(identity, now === type ? proposed : this.#converted(name, type, proposed))
    }
    this.#records.set(recordId, written)
    await this.#copyNow()
  }

  async #write(): Promise<void> {
    const id = this.#random.pick(IDS)
    const record: Record<string, JsonValue> = { id }
    const values =
      this.#records.get(id) ?? new Map([...this.#fields.values()].map(({ identity }) => [identity, null]))
    for (const name of this.#ordinary()) {
      if (this.#random.chance(0.5)) continue
      const { identity, type } = this.#fields.get(name) as ModelField
      const value = this.#random.pick(VALUES[type])
      record[name] = value
      values.set(identity, value)
    }
    await this.#sheet.write([record])
    this.#records.set(id, values)
    await this.#copyNow()
  }

  async #compute(): Promise<void> {
    const [id] = [...this.#records.keys()]
    if (id === undefined) return
    const value = this.#random.pick(['p', 'q', 'r'])
    const item = await this.#sheet.workOf(id, 'computed')
    const hash = `${value} ${this.#copies.length}`
    await this.#sheet.commit(this.#sheet.result(item, 'computed', computed(value, hash)))
    this.#records.get(id)?.set(this.#fields.get('computed')?.identity ?? 0, value)
    await this.#copyNow()
  }

  async #delete(): Promise<void> {
    if (this.#records.size === 0) return
    const id = this.#random.pick([...this.#records.keys()])
    await this.#sheet.store.delete([id], HUMAN)
    this.#deleted.set(id, this.#records.get(id) as Map<number, JsonValue>)
    this.#types.set(id, new Map([...this.#fields.values()].map(({ identity, type }) => [identity, type])))
    this.#records.delete(id)
    await this.#copyNow()
  }

  /** The types of the values of deleted records. */
  readonly #types = new Map<string, Map<number, Type>>()

  async #bringBack(): Promise<void> {
    const id = [...this.#deleted.keys()].find((one) => !this.#records.has(one))
    if (id === undefined) return
    const [deletion] = await this.#sheet.store.deletions([{ recordId: id, seq: null }])
    const values = this.#deleted.get(id)
    const expected = new Map(
      [...this.#fields].map(([name, { identity, type }]) => {
        const before = this.#types.get(id)?.get(identity) ?? this.#keptType(identity) ?? type
        return [identity, this.#converted(name, before, values?.get(identity) ?? null)] as const
      }),
    )
    const shown = Object.fromEntries(
      Object.entries(deletion?.values ?? {}).filter(([name, value]) => name !== 'id' && value !== null),
    )
    const wanted = [...this.#fields].map(
      ([name, { identity }]) => [name, expected.get(identity) ?? null] as const,
    )
    assert.deepEqual(
      shown,
      Object.fromEntries(wanted.filter(([, value]) => value !== null)),
      `deletion of ${id}`,
    )
    await this.#sheet.store.restore({ actor: HUMAN, records: [{ recordId: id, seq: null, hashes: [] }] })
    this.#records.set(id, expected)
    this.#deleted.delete(id)
    await this.#copyNow()
  }

  #keptType(identity: number): Type | undefined {
    return this.#kept.findLast(({ field, removed }) => removed && field.identity === identity)?.type
  }

  async #revert(): Promise<void> {
    const name = this.#random.pick([...this.#fields.keys()])
    const id = this.#random.pick([...this.#records.keys(), 'nobody'])
    const values = this.#records.get(id)
    const field = this.#fields.get(name)
    if (values === undefined || field === undefined) return
    const latest = (await entriesOf(this.#sheet.store, id, name))?.at(-1)
    if (latest === undefined) return
    const entries = [{ recordId: id, field: name, seq: Number(latest['seq']) }]
    const { reverted } = await this.#sheet.store.revert({ actor: HUMAN, entries, run: null })
    if (reverted === 1) values.set(field.identity, latest['previous'] ?? null)
    await this.#copyNow()
  }

  /** Applies changes of fields; the contract differs as a text every time. */
  async #define(
    fields: ReadonlyMap<string, ModelField>,
    changes: Partial<FieldChanges>,
  ): Promise<number | null> {
    this.#changes += 1
    const properties = [...fields].map(
      ([name, { type }]) =>
        `{name: ${name}, logicalType: ${type}, description: after ${this.#changes}, ${BY_HUMANS}}`,
    )
    const tried = await this.#sheet.tryDefine({ properties }, changes)
    const effect = await this.#sheet.define({ properties }, changes)
    assert.deepEqual(tried, effect)
    this.#fields = new Map(fields)
    return effect.seq
  }

  async #append(): Promise<void> {
    const name = NAMES.find((one) => !this.#fields.has(one))
    if (name === undefined) return
    const field = this.#add(name, this.#random.pick(TYPES))
    for (const values of this.#records.values()) values.set(field.identity, null)
    await this.#define(this.#fields, {})
    await this.#copyNow()
  }

  async #rename(): Promise<void> {
    const { pick, chance } = this.#random
    const from = pick(this.#ordinary())
    const free = NAMES.filter((one) => !this.#fields.has(one))
    const others = this.#ordinary().filter((name) => name !== from)
    const isSwap = others.length > 0 && (free.length === 0 || chance(0.4))
    if (!isSwap && free.length === 0) return
    const to = pick(isSwap ? others : free)
    const renamed = new Map(
      isSwap
        ? [
            [from, to],
            [to, from],
          ]
        : [[from, to]],
    )
    const fields = new Map([...this.#fields].map(([name, field]) => [renamed.get(name) ?? name, field]))
    await this.#define(fields, { renamed })
    await this.#copyNow()
  }

  async #remove(): Promise<void> {
    if (this.#ordinary().length < 2) return
    const name = this.#random.pick(this.#ordinary())
    const field = this.#fields.get(name) as ModelField
    const values = this.#valuesOf(field)
    const count = [...values.values()].filter((value) => value !== null).length
    const fields = new Map([...this.#fields].filter(([other]) => other !== name))
    const change = await this.#define(fields, { removed: new Map([[name, count]]) })
    const { type } = field
    this.#kept.push({ change: change ?? 0, field, name, type, removed: true, values })
    await this.#copyNow()
  }

  #valuesOf({ identity }: ModelField): Map<string, JsonValue> {
    return new Map([...this.#records].map(([id, values]) => [id, values.get(identity) ?? null]))
  }

  #converted(name: string, before: Type, value: JsonValue): JsonValue {
    const field = this.#sheet.contract.fieldByName.get(name)
    assert.ok(field)
    const made = convertValue(field, before, value)
    return made === undefined || valueError(field, made) !== null ? null : made
  }

  async #convert(): Promise<void> {
    const name = this.#random.pick(this.#ordinary())
    const field = this.#fields.get(name) as ModelField
    const { type: before } = field
    const values = this.#valuesOf(field)
    const type = this.#random.pick(TYPES.filter((other) => other !== before))
    field.type = type
    const change = await this.#define(this.#fields, { converted: new Map([[name, { onInvalid: 'null' }]]) })
    for (const record of this.#records.values())
      record.set(field.identity, this.#converted(name, before, record.get(field.identity) ?? null))
    this.#conversions.push({ identity: field.identity, seq: change ?? 0 })
    this.#kept.push({ change: change ?? 0, field, name, type: before, removed: false, values })
    await this.#copyNow()
  }

  async #restore(): Promise<void> {
    const last = this.#kept.findLast(
      ({ field, removed }) => removed !== [...this.#fields.values()].includes(field),
    )
    if (last === undefined) return
    if (last.removed) await this.#restoreRemoved(last)
    else await this.#restoreConverted(last)
    await this.#copyNow()
  }

  async #restoreRemoved(last: Kept): Promise<void> {
    if (this.#fields.has(last.name)) return
    const fields = new Map(this.#fields).set(last.name, last.field)
    await this.#define(fields, { restored: new Map([[last.name, last.change]]) })
    this.#kept = this.#kept.filter((kept) => kept !== last)
    for (const values of this.#records.values())
      values.set(last.field.identity, values.get(last.field.identity) ?? null)
  }

  async #restoreConverted(last: Kept): Promise<void> {
    const { field } = last
    const isLast = this.#kept.findLast((kept) => !kept.removed && kept.field === field) === last
    const [name] = [...this.#fields].find(([, one]) => one === field) ?? []
    if (!isLast || name === undefined) return
    const { type: before } = field
    const made = new Map([...last.values].map(([id, value]) => [id, this.#converted(name, last.type, value)]))
    field.type = last.type
    const values = this.#valuesOf(field)
    const changes = {
      converted: new Map([[name, { onInvalid: 'null' as const }]]),
      restored: new Map([[name, last.change]]),
    }
    const change = await this.#define(this.#fields, changes)
    this.#conversions.push({ identity: field.identity, seq: change ?? 0 })
    for (const [id, record] of this.#records) {
      const present = record.get(field.identity) ?? null
      const kept = this.#isSameLife(id, last.change) ? (last.values.get(id) ?? null) : null
      const isBack = kept !== null && JSON.stringify(made.get(id) ?? null) === JSON.stringify(present)
      record.set(field.identity, isBack ? kept : this.#converted(name, before, present))
    }
    this.#kept.push({ change: change ?? 0, field, name, type: before, removed: false, values })
  }

  /** Whether a record has existed without interruption since a line of the log. */
  #isSameLife(id: string, since: number): boolean {
    return this.#copies.every(({ seq, records }) => seq < since || records.has(id))
  }

  /** Compares all that can be read of a store with the model. */
  async check(store: SheetStore): Promise<void> {
    const names = [...this.#fields.keys()]
    for (const copy of this.#copies) {
      const past = await this.#past(store, names, copy.seq)
      const expected = [...copy.records].map(([id, values]) => ({
        id,
        ...Object.fromEntries(names.map((name) => [name, this.#valueIn(copy, name, values)])),
      }))
      assert.deepEqual(past, expected, `as of ${copy.seq}`)
    }
    for (const name of names) for (const id of IDS) await this.#checkEntries(store, id, name)
    for (const id of IDS) await checkEntriesOfRecord(store, id, ['id', ...names])
    await this.#checkFormerNames(store)
  }

  #valueIn({ fields }: Copy, name: string, values: ReadonlyMap<number, JsonValue>): JsonValue {
    const { identity } = this.#fields.get(name) as ModelField
    const existed = [...fields.values()].some((field) => field.identity === identity)
    return existed ? (values.get(identity) ?? null) : null
  }

  async #past(store: SheetStore, fields: readonly string[], seq: number): Promise<JsonObject[]> {
    const query = { fields: ['id', ...fields], limit: 100, after: null, seq, changed: true }
    const { records, changed = [] } = await store.pageAsOf(query)
    const past = JSON.parse(String(records)) as JsonObject[]
    const { last } = await store.history()
    const now = await store.pageAsOf({ ...query, seq: last })
    const present = new Map(
      (JSON.parse(String(now.records)) as JsonObject[]).map((each) => [each['id'], each]),
    )
    for (const [index, record] of past.entries()) {
      const names = changed[index]
      if (names === null || names === undefined) continue
      const differing = fields.filter(
        (name) => !isDeepStrictEqual(record[name], present.get(record['id'])?.[name]),
      )
      assert.deepEqual(names, differing, `${JSON.stringify(record)} as of ${seq}`)
    }
    return past
  }

  /** Entries follow from each other, and have the values that the cell had. */
  async #checkEntries(store: SheetStore, id: string, name: string): Promise<void> {
    const entries = (await entriesOf(store, id, name)) ?? []
    const what = `${name} of ${id}: ${JSON.stringify(entries)}`
    for (const entry of entries) assert.equal(entry['field'], name)
    for (const copy of this.#copies) {
      const values = copy.records.get(id)
      if (values === undefined) continue
      const { identity } = this.#fields.get(name) as ModelField
      if (![...copy.fields.values()].some((field) => field.identity === identity)) continue
      const entry = entries.findLast(({ seq }) => Number(seq) <= copy.seq)
      assert.deepEqual(entry?.['value'] ?? null, values.get(identity) ?? null, `${what} at ${copy.seq}`)
    }
  }

  /** A field is also found under its former names, where no present field has them. */
  async #checkFormerNames(store: SheetStore): Promise<void> {
    const former = await store.formerNames()
    const { seq } = this.#copies[Math.floor(this.#copies.length / 2)] as Copy
    for (const [name, present] of former) {
      assert.ok(this.#fields.has(present), `${name} is called ${present}`)
      if (this.#fields.has(name)) continue
      const under = await this.#past(store, [name], seq)
      const now = await this.#past(store, [present], seq)
      assert.deepEqual(
        under,
        now.map(({ id, [present]: value }) => ({ id, [name]: value })),
      )
    }
  }
}
