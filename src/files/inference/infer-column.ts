import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import type { WrittenNumber } from '../../contract/json/written-number.ts'
import { looksLikeKey } from './field-names.ts'
import { isMissingText, isPointGroup } from '../../contract/values/foreign-number.ts'
import { kindOf, lossyNumberIn, type Kind } from '../columns/value-kind.ts'
import { ShapeSketch } from './shape-sketch.ts'
import { NotationSketch } from '../notation/notation-sketch.ts'
import type { CellKind } from '../io/raw-records.ts'
import { countOccurrence, type Occurrence } from '../notation/occurrence.ts'
import { ValueSet, type ByteBudget } from './value-set.ts'

/** The most values of a closed list. */
export const MAX_LISTED = 20

/** The most characters of each value of a closed list. */
export const MAX_LISTED_LENGTH = 60

/** The most characters of a text in a key column. */
const MAX_KEY_LENGTH = 64

/** The reason why a column is not a key. */
export interface KeyError {
  /** Its place in the file's unit. */
  readonly at: number
  readonly value: JsonValue
  readonly reason: string
}

/** Kinds that can be keys without request: they have one notation, and are not measurements. */
const KEY_KINDS: ReadonlySet<Kind> = new Set<Kind>(['text', 'integer', 'date', 'timestamp'])

const REPEATED = 'is there a second time'

/** A field that accepts what the contract accepts as an id (D14). */
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
  /** Whether the column must be the key. */
  readonly key: boolean
  readonly budget: ByteBudget
}

/** Statistics of a column's values. Memory does not grow with their number, except for a {@link ValueSet}. */
export class ColumnSketch {
  readonly name: string
  readonly kinds = new Map<Kind, Occurrence>()
  readonly looksLikeKey: boolean
  /** The number of values. */
  count = 0
  /** The number of blank values, in files where blank can mean no value. */
  blank = 0
  /** The number of occurrences of each text; null if there are too many texts. */
  listed: Map<string, number> | null = new Map()
  keyError: KeyError | null = null
  /** Whether all texts are short. */
  short = true
  /** Whether no text has white space. */
  solid = true
  /** Digits with zeros or a plus sign before them. */
  padded: Occurrence | null = null
  /** Dates that are not converted: with a two-digit year, or a day that does not exist. */
  otherMoment: Occurrence | null = null
  /** Numbers that would lose digits, kept as written. */
  lossy: Occurrence | null = null
  /** Numbers whose point may separate thousands, as `1.000`, in files where that is possible. */
  pointGroup: Occurrence | null = null
  /** Integers beyond ±(2^53−1) that are written with an exponent. */
  unsafe: Occurrence | null = null
  readonly notation: NotationSketch
  readonly shape = new ShapeSketch()
  readonly #options: ColumnOptions
  #seen: ValueSet | null
  /** Null if there were too many values to store. */
  #complete: true | null = true

  constructor(name: string, options: ColumnOptions) {
    this.name = name
    this.looksLikeKey = looksLikeKey(name)
    this.#options = options
    this.notation = new NotationSketch({ groups: options.cells !== 'values' })
    this.#seen = new ValueSet(options.budget)
  }

  /** Whether all values differ and could be ids; null if there were too many to decide. */
  get differs(): boolean | null {
    return this.keyError === null ? this.#complete : false
  }

  /** Adds the value of a record at this place of the file. */
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

  /** Whether all texts are short and without white space. */
  get plain(): boolean {
    return this.short && this.solid
  }

  /** Adds a value that is, or contains, a number that would lose digits: it is kept as written. */
  addLossy(value: Exclude<JsonValue, null>, lossy: WrittenNumber, at: number): void {
    this.lossy = countOccurrence(this.lossy, lossy, at)
    this.add(idText(value), at)
  }

  /** Releases memory that is needed only while values are added. */
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
    if (this.#seen === null || this.keyError !== null) return
    if ((kind === null || !KEY_KINDS.has(kind)) && !this.#options.key) {
      this.#noKey({ at, value, reason: 'is no text, integer or date' })
      return
    }
    // Integers that differ only in spaces are one value.
    const text = kind === 'integer' && !this.#options.key ? idText(value).trim() : idText(value)
    const fault = valueError(ID, text)
    if (fault !== null) this.#noKey({ at, value, reason: fault })
    const added = fault === null ? this.#seen.add(text) : 'new'
    if (added === 'known') this.#noKey({ at, value, reason: REPEATED })
    if (added === 'full') {
      this.release()
      this.#complete = null
    }
  }

  #noKey(fault: KeyError): void {
    this.keyError = fault
    this.release()
  }
}

/** Returns a value as the text of an id. */
export function idText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const PADDED = /^(?:\+\.?[0-9]|-?0[0-9])[0-9]*(?:\.[0-9]+)?$/
const OTHER_MOMENT = /^(?:\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})|\d{4}([./-])\d{1,2}\2\d{1,2})$/

/** Returns an array or object, also one that a cell contains as text. */
function insideOf(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (JSON.parse(value) as JsonValue) : value
}
