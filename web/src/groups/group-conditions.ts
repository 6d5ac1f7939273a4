import type { RecordGroupAnswer } from '../../../src/wire/records/summary.ts'
import type { SheetField } from '../api/contract.ts'
import type { Condition } from '../state/conditions.ts'

export type GroupValue = RecordGroupAnswer['value']

/** Whether records can be grouped by a field. */
export function isGroupable({ type }: SheetField): boolean {
  return type !== 'array' && type !== 'object'
}

/** Returns the condition that the records of a group meet. */
export function groupCondition({ name, type }: SheetField, value: GroupValue): Condition {
  if (value === null) return { field: name, is: 'empty', value: null }
  if (type === 'date' || type === 'timestamp') {
    const [first, next] = daysOf(String(value))
    if (type === 'timestamp')
      return { field: name, is: 'during', value: [first.toISOString(), next.toISOString()] }
    return { field: name, is: 'between', value: [dayText(first), dayText(new Date(next.getTime() - 1))] }
  }
  return type === 'string' || type === 'time'
    ? { field: name, is: 'anyOf', value: [value] }
    : { field: name, is: 'equals', value }
}

/** Returns the first day of a period, such as `2026-03`, and the one after its last. */
function daysOf(period: string): readonly [Date, Date] {
  const [year = 0, month, day] = period.split('-').map(Number)
  const first = Date.UTC(year, (month ?? 1) - 1, day ?? 1)
  if (month === undefined) return [new Date(first), new Date(Date.UTC(year + 1, 0, 1))]
  const next = day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1)
  return [new Date(first), new Date(next)]
}

function dayText(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** Whether the records are limited to those of a group. */
export function isOpen(conditions: readonly Condition[], wanted: Condition): boolean {
  return conditions.some((each) => isSame(each, wanted))
}

/** Limits the records to those of a group instead of another, or no longer if they are already. */
export function toggleGroup(conditions: readonly Condition[], wanted: Condition): readonly Condition[] {
  const others = withoutField(conditions, wanted.field)
  return isOpen(conditions, wanted) ? others : [...others, wanted]
}

/** Returns the conditions on other fields: a group that is open does not hide the others. */
export function withoutField(conditions: readonly Condition[], field: string): readonly Condition[] {
  return conditions.filter((each) => each.field !== field)
}

function isSame(a: Condition, b: Condition): boolean {
  return a.field === b.field && a.is === b.is && JSON.stringify(a.value) === JSON.stringify(b.value)
}
