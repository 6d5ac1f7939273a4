import type { QueryClient } from '@tanstack/react-query'
import type { RecordAnswer } from '../../../../src/wire/records/records.ts'
import type { SheetField } from '../../api/contract.ts'
import type { CellEdit, Editing } from '../../editing/use-editing.ts'
import type { CellRange, Place } from '../selection/cell-range.ts'
import type { ColumnLayout } from '../layout/column-layout.ts'
import { readRange } from '../rows/read-range.ts'
import type { Rows } from '../rows/use-rows.ts'

/** The state that cell actions need. */
export interface CellContext {
  readonly client: QueryClient
  readonly rows: Rows
  readonly layout: ColumnLayout
  readonly editing: Editing
}

/** Formats the selected cells as tab-separated text; synchronously if all are loaded. */
export function textOfRange(context: CellContext, range: CellRange): string | Promise<string> {
  const toText = (records: readonly RecordAnswer[]): string =>
    textOf(context, records, fieldsOf(context.layout, range))
  const loaded = loadedRange(context.rows, range)
  return loaded === null
    ? readRange(context.client, context.rows.selection, range.top, range.bottom).then(toText)
    : toText(loaded)
}

/** Formats the cells of records in all shown columns as {@link textOfRange} does. */
export function textOfRecords(context: CellContext, records: readonly RecordAnswer[]): string {
  return textOf(
    context,
    records,
    context.layout.columns.map(({ field }) => field),
  )
}

function textOf(
  context: CellContext,
  records: readonly RecordAnswer[],
  fields: readonly SheetField[],
): string {
  return context.editing.copy(
    records.map((record) => fields.map((field) => ({ field, value: shownValue(context, record, field) }))),
  )
}

/** Clears the selected cells that may be edited. Throws if none may. */
export async function clearRange(context: CellContext, range: CellRange): Promise<void> {
  const fields = fieldsOf(context.layout, range)
  const writable = fields.filter((field) => context.editing.mayWrite(field))
  if (writable.length === 0) throw new Error(context.editing.refusal ?? readOnlyReason(fields))
  const records = await recordsOf(context, range)
  await context.editing.commit(
    records.flatMap((record) =>
      writable
        .filter((field) => shownValue(context, record, field) !== null)
        .map((field) => editOf(record, field, null)),
    ),
  )
}

/** Whether the cells of a column are checkboxes that the actor may tick. */
export function isToggle({ layout, editing }: CellContext, column: number): boolean {
  const field = layout.columns[column]?.field
  return field?.type === 'boolean' && editing.mayWrite(field)
}

/** Sets the checkboxes of a range to the opposite of the active one; other cells keep their values. */
export async function toggleRange(context: CellContext, range: CellRange, active: Place): Promise<void> {
  const records = await recordsOf(context, range)
  const first = records[active.row - range.top]
  const field = context.layout.columns[active.column]?.field
  if (first === undefined || field === undefined) return
  const isOn = shownValue(context, first, field) !== true
  const boxes = fieldsOf(context.layout, range).filter(
    (each) => each.type === 'boolean' && context.editing.mayWrite(each),
  )
  await context.editing.commit(records.flatMap((record) => boxes.map((box) => editOf(record, box, isOn))))
}

/** Explains why fields are not editable: for everyone, or for this actor. */
export function readOnlyReason(fields: readonly SheetField[]): string {
  const titles = fields.map(({ title }) => title).join(', ')
  if (fields.every(({ primaryKey }) => primaryKey))
    return `${titles} identifies the record and cannot be changed`
  const isDerived = fields.some(({ derived, editableBy }) => derived !== null && editableBy === null)
  return isDerived
    ? `${titles}: computed by a derivation, not editable`
    : `${titles}: the contract does not allow you to edit this (see the page Contract)`
}

/** Returns the fields of the columns of a range. */
export function fieldsOf({ columns }: ColumnLayout, { left, right }: CellRange): readonly SheetField[] {
  return columns.slice(left, right + 1).map(({ field }) => field)
}

/** Returns the records of a range, read if they are not loaded. Throws ApiError. */
export async function recordsOf(
  { client, rows }: CellContext,
  range: CellRange,
): Promise<readonly RecordAnswer[]> {
  return loadedRange(rows, range) ?? readRange(client, rows.selection, range.top, range.bottom)
}

/** Returns the records of a range if all are loaded. */
export function loadedRange(rows: Rows, { top, bottom }: CellRange): readonly RecordAnswer[] | null {
  if (bottom - top > 1000) return null
  const records: RecordAnswer[] = []
  for (let row = top; row <= bottom; row += 1) {
    const record = rows.at(row)
    if (record === undefined) return null
    records.push(record)
  }
  return records
}

/** Returns the value that a cell shows: that of its edit, or the stored one. */
export function shownValue({ editing }: CellContext, record: RecordAnswer, field: SheetField): unknown {
  const pending = editing.pending({ recordId: String(record['id']), field: field.name })
  return pending === undefined ? record[field.name] : pending.value
}

/** Returns the edit that sets a cell. */
export function editOf(record: RecordAnswer, field: SheetField, value: unknown): CellEdit {
  return { recordId: String(record['id']), field, value, previous: record[field.name] }
}
