import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { ServiceError } from '../../src/errors/service-error.ts'
import type { FieldChanges } from '../../src/store/field-changes.ts'
import type { RunId } from '../../src/store/stored-run.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import { HUMAN, target, type SheetSetup, type TestSheet } from '../../src/store/suite/support/test-sheet.ts'

const BY_HUMANS = 'customProperties: [{property: editableBy, value: ["human:*"]}]'
const COMPUTED = `{name: computed, logicalType: string, ${BY_HUMANS}}`
const NAMES = ['a', 'b', 'c', 'd', 'e']
const TYPES = ['string', 'number', 'boolean', 'timestamp', 'array', 'object'] as const

type Type = (typeof TYPES)[number]

const VALUES: Readonly<Record<Type, readonly JsonValue[]>> = {
  string: [
    null,
    '1',
    '02',
    'x',
    'Zoë \u2028 😀 "\\\n',
    '2024-01-01T00:00:00+02:00',
    '["y"]',
    '{"b":1,"a":2}',
  ],
  number: [null, 1, 0, 2.5, 5e-324, 1e21],
  boolean: [null, true, false],
  timestamp: [null, '2024-01-01T00:00:00+02:00', '2024-01-02T10:00:00Z'],
  array: [null, [], ['y'], [1, { b: 1, a: 2 }], ['2024-01-01T00:00:00.50Z']],
  object: [null, {}, { b: [true], a: { constructor: 'x' } }],
}

/** A sheet with imported records; {@link Events} changes it. */
export const EVENTFUL: SheetSetup & { readonly records: readonly JsonObject[] } = {
  properties: ['{name: a, logicalType: string}', '{name: b, logicalType: number}', COMPUTED],
  targets: [target('computed', [])],
  records: ['r0', 'r1', 'r2', 'r3'].map((id, index) => ({ id, a: `0${index}`, b: index })),
}

/** Random operations of every kind that changes records, fields or the log. */
export class Events {
  readonly #sheet: TestSheet
  readonly #random: Random
  readonly #ids: readonly string[]
  #fields = new Map<string, Type>([
    ['a', 'string'],
    ['b', 'number'],
  ])
  #deleted: string[] = []
  #run: RunId | null = null
  #changes = 0
  /** Changes that removed or converted a field, and its type before. */
  readonly #kept: {
    readonly name: string
    readonly type: Type
    readonly seq: number
    readonly removed: boolean
  }[] = []

  constructor(sheet: TestSheet, random: Random, ids = ['r0', 'r1', 'r2', 'r3', 'r4', 'r5']) {
    this.#sheet = sheet
    this.#random = random
    this.#ids = ids
  }

  /** Does one of them. What the sheet refuses changes nothing. */
  async operate(): Promise<void> {
    const operations = [
      this.#write,
      this.#write,
      this.#write,
      this.#import,
      this.#delete,
      this.#restore,
      this.#revert,
      this.#compute,
      this.#compute,
      this.#review,
      this.#propose,
      this.#changeField,
      this.#changeField,
    ]
    try {
      await this.#random.pick(operations).call(this)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
    }
  }

  async #write(): Promise<void> {
    const records = Array.from({ length: 1 + this.#random.below(3) }, () => this.#record())
    await this.#sheet.write(records)
  }

  async #import(): Promise<void> {
    this.#run ??= await this.#sheet.importRun()
    const records = this.#ids.map((id) => ({ ...this.#record(), id }))
    await this.#sheet.importRecords(records, this.#run)
  }

  #record(): JsonObject {
    const fields = [...this.#fields].filter(() => this.#random.chance(0.6))
    const values = fields.map(([name, type]) => [name, this.#random.pick(VALUES[type])] as const)
    const byHand = this.#random.chance(0.1) ? { computed: this.#random.pick(['by hand', null]) } : {}
    return { id: this.#random.pick(this.#ids), ...Object.fromEntries(values), ...byHand }
  }

  async #present(): Promise<string | null> {
    const ids = (await this.#sheet.all()).map(({ id }) => id as string)
    return ids.length === 0 ? null : this.#random.pick(ids)
  }

  async #delete(): Promise<void> {
    const id = await this.#present()
    if (id === null) return
    await this.#sheet.store.delete([id], HUMAN)
    this.#deleted.push(id)
  }

  async #restore(): Promise<void> {
    const recordId = this.#deleted.pop()
    if (recordId === undefined) return
    await this.#sheet.store.restore({ actor: HUMAN, records: [{ recordId, seq: null, hashes: [] }] })
  }

  async #revert(): Promise<void> {
    const id = await this.#present()
    const field = this.#random.pick([...this.#fields.keys(), 'computed'])
    const latest = id === null ? null : await this.#sheet.latest(id, field)
    if (id === null || latest === null) return
    const entries = [{ recordId: id, field, seq: Number(latest['seq']) }]
    await this.#sheet.store.revert({ actor: HUMAN, entries, run: null })
  }

  async #compute(): Promise<void> {
    const id = await this.#present()
    if (id === null) return
    const value = this.#random.pick(['p', 'q', null])
    await this.#sheet.compute(id, 'computed', value, `${id} ${value} ${this.#random.below(1000)}`)
  }

  async #review(): Promise<void> {
    const recordId = await this.#present()
    if (recordId === null) return
    const field = this.#random.pick([...this.#fields.keys(), 'computed'])
    const verdict = this.#random.pick(['approved', 'flagged', null] as const)
    await this.#sheet.store.review({ cells: [{ recordId, field }], verdict, note: null, actor: HUMAN })
  }

  async #propose(): Promise<void> {
    const { proposals } = this.#sheet.store
    const change = { records: [this.#record()] }
    const id = await proposals.propose({ change, actor: 'agent:proposer', note: null })
    await proposals.accept({ id, actor: HUMAN })
  }

  async #changeField(): Promise<void> {
    await this.#random
      .pick([this.#append, this.#rename, this.#remove, this.#convert, this.#bringBack])
      .call(this)
  }

  async #define(fields: ReadonlyMap<string, Type>, changes: Partial<FieldChanges>): Promise<number> {
    this.#changes += 1
    const properties = [...fields].map(
      ([name, type]) =>
        `{name: ${name}, logicalType: ${type}, description: after ${this.#changes}, ${BY_HUMANS}}`,
    )
    const effect = await this.#sheet.define({ properties: [...properties, COMPUTED] }, changes)
    this.#fields = new Map(fields)
    return effect.seq ?? 0
  }

  async #append(): Promise<void> {
    const name = NAMES.find((one) => !this.#fields.has(one))
    if (name === undefined) return
    await this.#define(new Map(this.#fields).set(name, this.#random.pick(TYPES)), {})
  }

  async #rename(): Promise<void> {
    const from = this.#random.pick([...this.#fields.keys()])
    const to = this.#random.pick(NAMES.filter((name) => name !== from))
    const isSwap = this.#fields.has(to)
    const renamed = new Map([[from, to], ...(isSwap ? [[to, from] as const] : [])])
    const fields = new Map([...this.#fields].map(([name, type]) => [renamed.get(name) ?? name, type]))
    await this.#define(fields, { renamed })
  }

  async #remove(): Promise<void> {
    if (this.#fields.size < 2) return
    const name = this.#random.pick([...this.#fields.keys()])
    const type = this.#fields.get(name) as Type
    const count = (await this.#sheet.all()).filter((record) => record[name] !== null).length
    const fields = new Map([...this.#fields].filter(([other]) => other !== name))
    const seq = await this.#define(fields, { removed: new Map([[name, count]]) })
    this.#kept.push({ name, type, seq, removed: true })
  }

  async #convert(): Promise<void> {
    const name = this.#random.pick([...this.#fields.keys()])
    const before = this.#fields.get(name) as Type
    const type = this.#random.pick(TYPES.filter((other) => other !== before))
    const fields = new Map(this.#fields).set(name, type)
    const seq = await this.#define(fields, { converted: new Map([[name, { onInvalid: 'null' }]]) })
    this.#kept.push({ name, type: before, seq, removed: false })
  }

  /** Brings back a field that was removed, or the values before a conversion. */
  async #bringBack(): Promise<void> {
    const kept = this.#random.chance(0.5)
      ? this.#kept.at(-1)
      : this.#kept[this.#random.below(this.#kept.length)]
    if (kept === undefined) return
    const { name, type, seq, removed } = kept
    const fields = new Map(this.#fields).set(name, type)
    const restored = new Map([[name, seq]])
    const converted = new Map(removed ? [] : [[name, { onInvalid: 'null' as const }]])
    await this.#define(fields, { restored, converted })
  }
}
