import type { SheetField } from '../../api/contract.ts'
import type { CellRange } from '../selection/cell-range.ts'
import { editOf, fieldsOf, readOnlyReason, recordsOf, shownValue, type CellContext } from './cell-actions.ts'

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

/** Returns the writable fields of a range. Throws an error with the reason if there are none. */
function writableOf(context: CellContext, range: CellRange): readonly SheetField[] {
  const fields = fieldsOf(context.layout, range)
  const writable = fields.filter((field) => context.editing.mayWrite(field))
  if (writable.length === 0) throw new Error(readOnlyReason(fields))
  return writable
}
