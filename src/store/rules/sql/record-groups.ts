import type { Field } from '../../../contract/contract.ts'
import { fieldsChanged } from '../../revision-store.ts'
import type { GroupPeriod } from '../../named/stored-chart.ts'
import type { GroupQuery, HistogramSplit, RecordGroup, SplitQuery } from '../../sheet-store.ts'

type TypedField = Pick<Field, 'name' | 'type'>

/** The fields of a {@link GroupQuery} with their types. */
export interface GroupFields {
  readonly by: TypedField
  readonly split: TypedField | null
  readonly totals: readonly TypedField[]
  /** The number of characters of a date that name its period. */
  readonly dateLength: number
}

const DATE_LENGTHS: Readonly<Record<GroupPeriod, number>> = { year: 4, month: 7, day: 10 }

/** Finds the fields of a query, all of which exist. */
export function groupFields(
  { by, split, totals, period }: GroupQuery,
  allFields: readonly TypedField[],
): GroupFields {
  const find = (name: string): TypedField => findField(name, allFields)
  return {
    by: find(by),
    split: split === null ? null : find(split),
    totals: totals.map(find),
    dateLength: DATE_LENGTHS[period],
  }
}

/** A field by whose values histograms are divided. */
export interface SplitField {
  readonly field: TypedField
  /** The number of characters of a date that name its period. */
  readonly dateLength: number
}

/** Finds the field of a query, which exists. */
export function splitField({ by, period }: SplitQuery, allFields: readonly TypedField[]): SplitField {
  return { field: findField(by, allFields), dateLength: DATE_LENGTHS[period] }
}

function findField(name: string, allFields: readonly TypedField[]): TypedField {
  const field = allFields.find((each) => each.name === name)
  if (field === undefined) throw fieldsChanged()
  return field
}

/** Returns the parts of a histogram from rows of the index of a range, the value of the second field, and the count, in the order of the values. */
export function toSplits(
  { field }: SplitField,
  rows: readonly (readonly unknown[])[],
  ranges: number,
): readonly HistogramSplit[] {
  const groups = Map.groupBy(rows, ([, value]) => shown(field, value))
  return [...groups].map(([value, members]) => {
    const counts = Array<number>(ranges).fill(0)
    for (const [range, , count] of members) if (range !== null) counts[Number(range)] = Number(count)
    return { value, counts }
  })
}

/** Returns a group from a row: the value, the value of the second field if there is one, the count, and the sums. */
export function toGroup({ by, split, totals }: GroupFields, row: readonly unknown[]): RecordGroup {
  const [count, ...sums] = row.slice(split === null ? 1 : 2)
  return {
    value: shown(by, row[0]),
    ...(split !== null && { split: shown(split, row[1]) }),
    count: Number(count),
    totals: Object.fromEntries(totals.map(({ name }, index) => [name, Number(sums[index])])),
  }
}

/** Returns a value from what an engine returns for it. */
function shown({ type }: TypedField, value: unknown): RecordGroup['value'] {
  if (value === null || value === undefined) return null
  if (type === 'integer' || type === 'number') return Number(value)
  if (type === 'boolean') return value === 'true' || value === 1
  return typeof value === 'string' ? value : null
}
