import type { FieldSummaryAnswer } from '../../../src/wire/records/summary.ts'
import type { SheetField } from '../api/contract.ts'
import { scalarText } from '../filter/condition-text.ts'
import type { CountedGroups } from '../summary/use-summary.ts'
import type { GroupValue } from './group-conditions.ts'

/** A group with its parts. */
export interface GroupRow {
  readonly value: GroupValue
  readonly label: string
  readonly count: number
  /** The shown measure: the number of records, or the sum of a field. */
  readonly size: number
  /** By the values of the second field; one part without one. */
  readonly parts: readonly GroupPart[]
}

export interface GroupPart {
  readonly label: string
  readonly size: number
  /** The place of the value among all values of the second field, which has the colour. */
  readonly place: number
}

/** A value of the second field. */
export interface SplitValue extends Omit<GroupPart, 'size'> {
  readonly value: GroupValue
}

/** The groups of a field, divided by a second one. */
export interface GroupRows {
  readonly rows: readonly GroupRow[]
  /** The values of the second field; empty without one. */
  readonly splits: readonly SplitValue[]
  /** The number of records that are in no listed group. */
  readonly left: number
}

interface Shown {
  /** The summary of the field, whose histogram is divided by the second one, once it is loaded. */
  readonly summary: FieldSummaryAnswer | null
  readonly by: SheetField
  readonly split: SheetField | null
  readonly total: SheetField | null
}

/** Merges the groups that a server lists: those of periods and numbers in their order, others by size. */
export function groupRows(
  { count, groups }: Omit<CountedGroups, 'took'>,
  { by, split, total, summary }: Shown,
): GroupRows {
  const divided = [
    ...groups.map((group) => group.split ?? null),
    ...(summary?.histogram?.splits ?? []).map(({ value }) => value),
  ]
  const splitValues = split === null ? [] : splitsOf(divided, split)
  const splits = splitValues.map((value, place) => ({ value, place, label: groupLabel(split ?? by, value) }))
  const rows = [...Map.groupBy(groups, ({ value }) => value)].map(([value, members]): GroupRow => {
    const parts = members.map((member): GroupPart => {
      const place = Math.max(0, splitValues.indexOf(member.split ?? null))
      const size = total === null ? member.count : (member.totals[total.name] ?? 0)
      return { label: splits[place]?.label ?? '', size, place }
    })
    return {
      value,
      label: groupLabel(by, value),
      count: members.reduce((sum, member) => sum + member.count, 0),
      size: parts.reduce((sum, part) => sum + part.size, 0),
      parts: parts.toSorted((a, b) => a.place - b.place),
    }
  })
  const listed = rows.reduce((sum, row) => sum + row.count, 0)
  const order = by.type === 'string' || by.type === 'boolean' ? bySize : inOrder
  return { rows: rows.toSorted(order), splits, left: count - listed }
}

/** Returns the values of the second field: those of its closed list first, in the order of that. */
function splitsOf(found: readonly GroupValue[], { values }: SheetField): readonly GroupValue[] {
  const listed: readonly GroupValue[] = values ?? []
  const rank = (value: GroupValue): number => (listed.includes(value) ? listed.indexOf(value) : listed.length)
  return [...new Set(found)].toSorted((a, b) => rank(a) - rank(b) || inOrder({ value: a }, { value: b }))
}

function groupLabel(field: SheetField, value: GroupValue): string {
  // A period is no moment.
  return scalarText(value, field.type === 'timestamp' ? { ...field, type: 'string' } : field)
}

type Valued = Pick<GroupRow, 'value'>

/** Groups without a value are last. */
function inOrder({ value: a }: Valued, { value: b }: Valued): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a) < String(b) ? -1 : Number(String(a) > String(b))
}

function bySize(a: GroupRow, b: GroupRow): number {
  return b.size - a.size || inOrder(a, b)
}
