import {
  isAmbiguous,
  isMidnight,
  parseForeignMoment,
  type DateOrder,
} from '../../contract/values/foreign-moment.ts'
import {
  hasUnit,
  isAmbiguousGroup,
  isDecimalComma,
  isGrouped,
  isInfinite,
  isMissingText,
} from '../../contract/values/foreign-number.ts'
import { countOccurrence, type Occurrence } from './occurrence.ts'

/** The interpretation of a column's texts that are ambiguous, or mean no value. */
export interface Reading {
  /** The order of day and month; null reads unambiguous dates only. */
  readonly dateOrder: DateOrder | null
  /** Whether a comma before three digits separates thousands. */
  readonly commaGroups: boolean
  /** Whether texts such as `NA` are no value, and numbers and booleans become texts in text fields. */
  readonly lenient: boolean
}

/** Reads only unambiguous texts, whatever else the column has. */
export const STRICT: Reading = { dateOrder: null, commaGroups: false, lenient: false }

/**
 * Collects the possible interpretations of a column's texts that are neither numbers nor dates of a contract, in
 * constant memory.
 */
export class NotationSketch {
  /** `NA`, `NaN` and similar words. */
  missing: Occurrence | null = null
  infinite: Occurrence | null = null
  /** Numbers with thousands separators. */
  grouped: Occurrence | null = null
  /** Those of them that may have a decimal comma instead. */
  ambiguousGroup: Occurrence | null = null
  /** Those of them with a fraction. */
  fraction: Occurrence | null = null
  /** Texts of none of these kinds. */
  otherText: Occurrence | null = null
  /** Those of them that are numbers with a decimal comma, or with a unit. */
  decimalComma: Occurrence | null = null
  withUnit: Occurrence | null = null
  /** Dates, with or without a time. */
  moments: Occurrence | null = null
  /** Those of them with a time, without an offset, and with a time other than midnight. */
  timed: Occurrence | null = null
  local: Occurrence | null = null
  late: Occurrence | null = null
  /** Those of them that are dates in one order only, and in both. */
  dmy: Occurrence | null = null
  mdy: Occurrence | null = null
  ambiguous: Occurrence | null = null

  readonly #groups: boolean

  /** With `groups` false, numbers with thousands separators are texts, as in files that have types. */
  constructor({ groups }: { readonly groups: boolean }) {
    this.#groups = groups
  }

  /** Adds a trimmed text. */
  add(text: string, at: number): void {
    if (isMissingText(text)) this.missing = countOccurrence(this.missing, text, at)
    else if (isInfinite(text)) this.infinite = countOccurrence(this.infinite, text, at)
    else if (this.#groups && isGrouped(text)) this.#addGrouped(text, at)
    else if (!this.#addMoment(text, at)) this.#addOther(text, at)
  }

  /**
   * Returns the reading of the column. `dateOrder` applies to dates whose order no other date shows; `hasPoint` says
   * that it has numbers with a decimal point.
   */
  reading(dateOrder: DateOrder | null, hasPoint: boolean): Reading {
    return {
      dateOrder: this.#evidentOrder() ?? dateOrder,
      commaGroups: hasPoint || (this.grouped?.count ?? 0) > (this.ambiguousGroup?.count ?? 0),
      lenient: true,
    }
  }

  /** Whether a reading makes each date of the column unambiguous. */
  isSettled({ dateOrder }: Reading): boolean {
    return (this.dmy === null || this.mdy === null) && (this.ambiguous === null || dateOrder !== null)
  }

  #evidentOrder(): DateOrder | null {
    if ((this.dmy === null) === (this.mdy === null)) return null
    return this.dmy === null ? 'mdy' : 'dmy'
  }

  #addGrouped(text: string, at: number): void {
    this.grouped = countOccurrence(this.grouped, text, at)
    if (text.includes('.')) this.fraction = countOccurrence(this.fraction, text, at)
    if (isAmbiguousGroup(text)) this.ambiguousGroup = countOccurrence(this.ambiguousGroup, text, at)
  }

  #addOther(text: string, at: number): void {
    this.otherText = countOccurrence(this.otherText, text, at)
    if (!this.#groups) return
    if (isDecimalComma(text)) this.decimalComma = countOccurrence(this.decimalComma, text, at)
    else if (hasUnit(text)) this.withUnit = countOccurrence(this.withUnit, text, at)
  }

  #addMoment(text: string, at: number): boolean {
    const moment = parseForeignMoment(text)
    if (moment === null) return false
    this.moments = countOccurrence(this.moments, text, at)
    if (moment.time !== null) this.timed = countOccurrence(this.timed, text, at)
    if (moment.time !== null && moment.offset === null) this.local = countOccurrence(this.local, text, at)
    if (!isMidnight(moment)) this.late = countOccurrence(this.late, text, at)
    if (isAmbiguous(moment)) this.ambiguous = countOccurrence(this.ambiguous, text, at)
    else if (moment.dates.mdy === null) this.dmy = countOccurrence(this.dmy, text, at)
    else if (moment.dates.dmy === null) this.mdy = countOccurrence(this.mdy, text, at)
    return true
  }
}
