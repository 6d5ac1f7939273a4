import { dateOf, parseForeignMoment } from '../../contract/values/foreign-moment.ts'
import { withoutGroups } from '../../contract/values/foreign-number.ts'
import type { NotationSketch } from './notation-sketch.ts'
import { textOf, type Occurrence } from './occurrence.ts'

/** Shows a value with its place. */
export type Show = (occurrence: Occurrence) => string

/** Returns the two meanings of a column's numbers, such as `1,234`; null if there is one. */
export function ambiguousGroupText({ ambiguousGroup, grouped }: NotationSketch, show: Show): string | null {
  if (ambiguousGroup === null || ambiguousGroup.count !== grouped?.count) return null
  const text = textOf(ambiguousGroup)
  return `${show(ambiguousGroup)} may be ${withoutGroups(text)} or ${text.replace(',', '.')}`
}

/** Returns the two meanings of a column's dates, such as `03/04/2024`; null if there is one. */
export function ambiguousDateText({ ambiguous, dmy, mdy }: NotationSketch, show: Show): string | null {
  if (dmy !== null && mdy !== null) return `the day is first in ${show(dmy)}, the month in ${show(mdy)}`
  const moment = ambiguous === null ? null : parseForeignMoment(textOf(ambiguous))
  if (ambiguous === null || moment === null || dmy !== null || mdy !== null) return null
  return `${show(ambiguous)} may be ${dateOf(moment, 'dmy')} or ${dateOf(moment, 'mdy')}; tell with --date-order dmy or mdy`
}
