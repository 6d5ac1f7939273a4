import type { SheetField } from '../../api/contract.ts'
import { isOfType } from '../../api/is-of-type.ts'
import { copyText, parseText } from '../../values/value-text.ts'
import type { CellEdit } from '../../editing/use-editing.ts'
import type { CellRange } from '../selection/cell-range.ts'
import { editOf, fieldsOf, readOnlyReason, recordsOf, shownValue, type CellContext } from './cell-actions.ts'
import { fillSeries } from './fill-series.ts'

/** Copies the first row of a range into its other rows; a single row gets the values of the row above. Throws. */
export async function fillDown(context: CellContext, range: CellRange): Promise<void> {
  const top = range.top === range.bottom ? range.top - 1 : range.top
  if (top < 0) throw new Error('Nothing to fill: there is no row above the first one')
  const fields = writableOf(context, range)
  const [first, ...others] = await recordsOf(context, { ...range, top })
  if (first === undefined) return
  await context.editing.commit(
    others.flatMap((record) =>
      fields.map((field) => editOf(record, field, shownValue(context, first, field))),
    ),
  )
}

/**
 * Fills the cells of `target` that are beyond `source`, which it contains: numbers and dates with a constant step
 * continue, other values repeat. Throws.
 */
export async function fillFrom(context: CellContext, source: CellRange, target: CellRange): Promise<void> {
  writableOf(context, target)
  const isVertical = target.top < source.top || target.bottom > source.bottom
  const records = await recordsOf(context, isVertical ? target : source)
  const edits = isVertical
    ? fieldsOf(context.layout, source).flatMap((field) => {
        if (!context.editing.mayWrite(field)) return []
        const values = records.map((record) => shownValue(context, record, field))
        const [from, to] = [source.top - target.top, source.bottom - target.top + 1]
        return continued(values, from, to).map(({ at, value }) => editAt(records, at, field, value))
      })
    : records.flatMap((record) => {
        const fields = fieldsOf(context.layout, target)
        const values = fields.map((field) => shownValue(context, record, field))
        const [from, to] = [source.left - target.left, source.right - target.left + 1]
        return continued(values, from, to).map(({ at, value }) => {
          const field = fields[at]
          return field !== undefined && context.editing.mayWrite(field)
            ? editOf(record, field, asType(field, value))
            : null
        })
      })
  await context.editing.commit(edits.filter((edit) => edit !== null))
}

/** Writes a value to all cells of a range that the actor may write. Throws. */
export async function setCells(context: CellContext, range: CellRange, value: unknown): Promise<void> {
  const fields = writableOf(context, range)
  const records = await recordsOf(context, range)
  await context.editing.commit(
    records.flatMap((record) => fields.map((field) => editOf(record, field, asType(field, value)))),
  )
}

/** Returns the writable fields of a range. Throws an error with the reason if there are none. */
function writableOf(context: CellContext, range: CellRange): readonly SheetField[] {
  const fields = fieldsOf(context.layout, range)
  const writable = fields.filter((field) => context.editing.mayWrite(field))
  if (writable.length === 0) throw new Error(context.editing.refusal ?? readOnlyReason(fields))
  return writable
}

/** Continues the values from `from` to `to`, exclusive, into the places before and after them. */
function continued(
  values: readonly unknown[],
  from: number,
  to: number,
): readonly { readonly at: number; readonly value: unknown }[] {
  const known = values.slice(from, to)
  const before = fillSeries(known.toReversed(), from)
  const after = fillSeries(known, values.length - to)
  return [
    ...before.map((value, index) => ({ at: from - 1 - index, value })),
    ...after.map((value, index) => ({ at: to + index, value })),
  ]
}

function editAt(
  records: Awaited<ReturnType<typeof recordsOf>>,
  at: number,
  field: SheetField,
  value: unknown,
): CellEdit | null {
  const record = records[at]
  return record === undefined ? null : editOf(record, field, value)
}

/** Converts a value for a field of another type; what cannot be converted is refused with the reason when it is saved. */
function asType(field: SheetField, value: unknown): unknown {
  if (value === null || value === undefined || isOfType(field.type, value)) return value
  const text = copyText(value) ?? ''
  const parsed = parseText(field, text)
  return 'value' in parsed ? parsed.value : text
}
