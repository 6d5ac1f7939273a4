import { isAmbiguous, isMidnight, parseForeignMoment, type DateOrder } from './foreign-moment.ts'
import {
  hasUnit,
  isAmbiguousGroup,
  isDecimalComma,
  isGrouped,
  isInfinite,
  isMissingText,
} from './foreign-number.ts'
import { countOccurrence, type Occurrence } from './occurrence.ts'

/** How the texts of a column are read where one alone has several meanings, or stands for no value. */
export interface Reading {
  /** The order of day and month; null where only dates with one meaning are read. */
  readonly dateOrder: DateOrder | null
  /** Whether a comma before three digits is between thousands. */
  readonly commaGroups: boolean
  /** Whether texts such as `NA` are no value, and numbers and truth values are texts where a field has texts. */
  readonly lenient: boolean
}

/** Reads only what has one meaning, whatever else the column has. */
export const STRICT: Reading = { dateOrder: null, commaGroups: false, lenient: false }

/** What the texts of a column that are neither numbers nor moments of a contract could be, in memory that does not grow. */
export class NotationSketch {
  /** `NA`, `NaN` and the like. */
  missing: Occurrence | null = null
  infinite: Occurrence | null = null
  /** Numbers with separators between thousands. */
  grouped: Occurrence | null = null
  /** Those of them that could have a decimal comma instead. */
  ambiguousGroup: Occurrence | null = null
  /** Those of them that have a fraction. */
  fraction: Occurrence | null = null
  /** Texts that are none of these. */
  otherText: Occurrence | null = null
  /** Those of them that are numbers with a decimal comma, and with a unit. */
  decimalComma: Occurrence | null = null
  withUnit: Occurrence | null = null
  /** Dates, with a time or without. */
  moments: Occurrence | null = null
  /** Those of them with a time, without an offset behind it, and at another time than midnight. */
  timed: Occurrence | null = null
  local: Occurrence | null = null
  late: Occurrence | null = null
  /** Those of them that are dates by one order only, and by both. */
  dmy: Occurrence | null = null
  mdy: Occurrence | null = null
  ambiguous: Occurrence | null = null

  readonly #groups: boolean

  /** `groups` false takes numbers with separators between thousands for texts, as in files that have types. */
  constructor({ groups }: { readonly groups: boolean }) {
    this.#groups = groups
  }

  /** Notes a text without white space around it. */
  add(text: string, at: number): void {
    if (isMissingText(text)) this.missing = countOccurrence(this.missing, text, at)
    else if (isInfinite(text)) this.infinite = countOccurrence(this.infinite, text, at)
    else if (this.#groups && isGrouped(text)) this.#addGrouped(text, at)
    else if (!this.#addMoment(text, at)) this.#addOther(text, at)
  }

  /** How the column is read; `dateOrder` is for dates whose order no other date shows. `hasPoint` where it has numbers with a decimal point. */
  reading(dateOrder: DateOrder | null, hasPoint: boolean): Reading {
    return {
      dateOrder: this.#evidentOrder() ?? dateOrder,
      commaGroups: hasPoint || (this.grouped?.count ?? 0) > (this.ambiguousGroup?.count ?? 0),
      lenient: true,
    }
  }

  /** Whether each date of the column has one meaning by a reading. */
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
