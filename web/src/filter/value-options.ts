import type { SheetField } from '../api/contract.ts'
import type { Scalar } from '../state/conditions.ts'
import { scalarText } from './condition-text.ts'
import type { CountedValue } from './values-query.ts'

/** The known values of a field. */
export interface KnownValues {
  readonly nulls: number
  readonly top: readonly CountedValue[]
  /** The number of distinct values; null if unknown. */
  readonly distinct: number | null
}

/**
 * Returns the values to pick from: the closed list or the most frequent values, the picked ones, and null if records
 * have none; filtered by the typed text.
 */
export function valueOptions(
  field: SheetField,
  known: KnownValues,
  picked: readonly (Scalar | null)[],
  typed: string,
): readonly CountedValue[] {
  const countOf = (value: Scalar): number | null =>
    known.top.find((each) => each.value === value)?.count ?? (isComplete(known) ? 0 : null)
  const listed: readonly CountedValue[] =
    field.values === null || field.type === 'array'
      ? known.top
      : field.values.map((value) => ({ value, count: countOf(value) }))
  const mayLack = field.type !== 'array' && (known.nulls > 0 || picked.includes(null))
  const none = mayLack ? [{ value: null, count: known.nulls }] : []
  const all = [...listed, ...none]
  const missing = picked.filter((value) => !all.some((each) => each.value === value))
  const wanted = typed.trim().toLowerCase()
  const placed = [...missing.map((value) => ({ value, count: null })), ...all].map((option) => ({
    option,
    place: scalarText(option.value, field).toLowerCase().indexOf(wanted),
  }))
  // Values that begin with the typed text come first.
  return placed
    .filter(({ place }) => place >= 0)
    .toSorted((a, b) => Math.sign(a.place) - Math.sign(b.place))
    .map(({ option }) => option)
}

/** Whether all values are counted. */
export function isComplete({ top, distinct }: KnownValues): boolean {
  return distinct !== null && distinct <= top.length
}

/** Adds options that are not yet in the list. */
export function joinOptions(
  options: readonly CountedValue[],
  found: readonly CountedValue[],
): readonly CountedValue[] {
  const exists = (value: CountedValue['value']): boolean => options.some((each) => each.value === value)
  return [...options, ...found.filter(({ value }) => !exists(value))]
}
