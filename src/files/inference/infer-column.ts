import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { faultOf } from '../../contract/values/validate-value.ts'
import type { WrittenNumber } from '../../contract/json/written-number.ts'
import { readsLikeKey } from './field-names.ts'
import { isMissingText, isPointGroup } from '../notation/foreign-number.ts'
import { kindOf, lossyNumberIn, type Kind } from '../columns/value-kind.ts'
import { ShapeSketch } from './shape-sketch.ts'
import { NotationSketch } from '../notation/notation-sketch.ts'
import type { CellKind } from '../io/raw-records.ts'
import { countOccurrence, type Occurrence } from '../notation/occurrence.ts'
import { ValueSet, type ByteBudget } from './value-set.ts'

/** A closed list has at most so many values, */
export const MAX_LISTED = 20

/** each of at most so many characters. */
export const MAX_LISTED_LENGTH = 60

/** As long as this, a text may still tell records apart. */
const MAX_KEY_LENGTH = 64

/** What keeps a column from telling records apart. */
export interface KeyFault {
  /** Where in the file, in its unit. */
  readonly at: number
  readonly value: JsonValue
  readonly reason: string
}

/** Values of these can be keys that nobody asked for: they have one form only, and are no measurements. */
const KEY_KINDS: ReadonlySet<Kind> = new Set<Kind>(['text', 'integer', 'date', 'timestamp'])

const REPEATED = 'is there a second time'

/** Any text goes through what the contract holds against an id (D14). */
const ID: Field = {
  name: 'id',
  type: 'string',
  required: true,
  primaryKey: true,
  unique: false,
  indexed: false,
  options: {},
  validValues: null,
  editableBy: null,
  declaredDerived: null,
  declaredInputs: null,
}

export interface ColumnOptions {
  readonly cells: CellKind
  /** Whether it must be the key. */
  readonly key: boolean
  readonly budget: ByteBudget
}

/** What is known of a column's values, in memory that does not grow with their number but for a {@link ValueSet}. */
export class ColumnSketch {
  readonly name: string
  readonly kinds = new Map<Kind, Occurrence>()
  readonly readsLikeKey: boolean
  /** Values that are there. */
  count = 0
  /** Those of them that are nothing but white space, in files where that can mean no value. */
  blank = 0
  /** How often each text occurs, for as long as there are few; null when there are many. */
  listed: Map<string, number> | null = new Map()
  keyFault: KeyFault | null = null
  /** Whether each text is short, */
  short = true
  /** and whether each is without white space. */
  solid = true
  /** Digits with zeros or a plus sign before them. */
  padded: Occurrence | null = null
  /** What looks like a date that is not read: with two digits of the year, or a day that no month has. */
  otherMoment: Occurrence | null = null
  /** Numbers that would lose digits, which are kept as they are written. */
  lossy: Occurrence | null = null
  /** Numbers whose point may be between thousands, as `1.000`, in files where that can be. */
  pointGroup: Occurrence | null = null
  /** Integers beyond ±(2^53−1) that the file has with an exponent. */
  unsafe: Occurrence | null = null
  readonly notation: NotationSketch
  readonly shape = new ShapeSketch()
  readonly #options: ColumnOptions
  #seen: ValueSet | null
  /** Null when there were more values than could be kept. */
  #complete: true | null = true

  constructor(name: string, options: ColumnOptions) {
    this.name = name
    this.readsLikeKey = readsLikeKey(name)
    this.#options = options
    this.notation = new NotationSketch({ groups: options.cells !== 'values' })
    this.#seen = new ValueSet(options.budget)
  }

  /** Whether all values differ and could be ids; null when there were too many to tell. */
  get differs(): boolean | null {
    return this.keyFault === null ? this.#complete : false
  }

  /** Notes the value of a record, which is at this place in the file. */
  add(value: Exclude<JsonValue, null>, at: number): void {
    this.count += 1
    const kind = kindOf(value, this.#options.cells)
    if (kind === null || value === '') this.blank += 1
    const isMissing = kind === 'text' && typeof value === 'string' && isMissingText(value.trim())
    if (kind !== null && !isMissing)
      this.kinds.set(kind, countOccurrence(this.kinds.get(kind) ?? null, value, at))
    if (typeof value === 'number' && Number.isInteger(value) && kind === 'number')
      this.unsafe = countOccurrence(this.unsafe, value, at)
    if (kind === 'number' && typeof value === 'string' && isPointGroup(value.trim()))
      this.pointGroup = countOccurrence(this.pointGroup, value, at)
    if (kind === 'array' || kind === 'object') this.shape.add(insideOf(value))
    this.#addToKey(value, kind, at)
    if (typeof value !== 'string') this.listed = null
    else this.#addText(value, kind, at)
  }

  /** Whether each text is short and without white space. */
  get plain(): boolean {
    return this.short && this.solid
  }

  /** Notes a value that is, or holds, a number that would lose digits: it stays as it is written. */
  addLossy(value: Exclude<JsonValue, null>, lossy: WrittenNumber, at: number): void {
    this.lossy = countOccurrence(this.lossy, lossy, at)
    this.add(idText(value), at)
  }

  /** Gives back what is only needed while values come. */
  release(): void {
    this.#seen?.release()
    this.#seen = null
  }

  #addText(text: string, kind: Kind | null, at: number): void {
    this.#addToList(text)
    if (this.short && text.length > MAX_KEY_LENGTH) this.short = false
    if (this.solid && /\s/.test(text)) this.solid = false
    if (kind !== 'text') return
    const trimmed = text.trim()
    if (this.#options.cells === 'text' && this.#addLossyCell(trimmed, at)) return
    if (PADDED.test(trimmed)) this.padded = countOccurrence(this.padded, text, at)
    const known = this.notation.moments?.count ?? 0
    this.notation.add(trimmed, at)
    if (known === (this.notation.moments?.count ?? 0) && OTHER_MOMENT.test(trimmed))
      this.otherMoment = countOccurrence(this.otherMoment, text, at)
  }

  #addLossyCell(text: string, at: number): boolean {
    const lossy = lossyNumberIn(text)
    if (lossy === null) return false
    this.lossy = countOccurrence(this.lossy, lossy, at)
    return true
  }

  #addToList(text: string): void {
    if (this.listed === null) return
    this.listed.set(text, (this.listed.get(text) ?? 0) + 1)
    if (this.listed.size > MAX_LISTED || text.length > MAX_LISTED_LENGTH) this.listed = null
  }

  #addToKey(value: JsonValue, kind: Kind | null, at: number): void {
    if (this.#seen === null || this.keyFault !== null) return
    if ((kind === null || !KEY_KINDS.has(kind)) && !this.#options.key) {
      this.#noKey({ at, value, reason: 'is no text, integer or date' })
      return
    }
    // Cells of integers that differ in spaces only are one value.
    const text = kind === 'integer' && !this.#options.key ? idText(value).trim() : idText(value)
    const fault = faultOf(ID, text)
    if (fault !== null) this.#noKey({ at, value, reason: fault })
    const added = fault === null ? this.#seen.add(text) : 'new'
    if (added === 'known') this.#noKey({ at, value, reason: REPEATED })
    if (added === 'full') {
      this.release()
      this.#complete = null
    }
  }

  #noKey(fault: KeyFault): void {
    this.keyFault = fault
    this.release()
  }
}

/** The text that a value is as an id. */
export function idText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const PADDED = /^(?:\+\.?[0-9]|-?0[0-9])[0-9]*(?:\.[0-9]+)?$/
const OTHER_MOMENT = /^(?:\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})|\d{4}([./-])\d{1,2}\2\d{1,2})$/

/** An array or object, also one that a cell has as text. */
function insideOf(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (JSON.parse(value) as JsonValue) : value
}
