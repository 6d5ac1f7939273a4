import type { PastePlan } from '../../editing/paste.ts'
import type { Notation } from '../../values/value-text.ts'
import { countOf } from '../../ui/format.ts'
import { showSuccess, showWarning } from '../../ui/toasts.tsx'
import type { CellRange } from '../selection/cell-range.ts'
import { editOf, readOnlyReason, recordsOf, type CellContext } from './cell-actions.ts'

/** A text to paste from the first cell of a range on. */
export interface Paste {
  readonly text: string
  readonly range: CellRange
}

/** Plans a paste; `notations` are those that the person chose, by field. Throws PasteError. */
export function planOf(
  { layout, rows, editing }: CellContext,
  { text, range }: Paste,
  notations?: ReadonlyMap<string, Notation>,
): PastePlan {
  const plan = editing.planPaste(text, {
    fields: layout.columns.slice(range.left).map(({ field }) => field),
    records: Math.max(0, (rows.count ?? 0) - range.top),
    selected: { rows: range.bottom - range.top + 1, columns: range.right - range.left + 1 },
    ...(notations !== undefined && { notations }),
  })
  if (plan.fields.length > 0 && plan.fields.length === plan.skipped.length) {
    throw new Error(`Nothing pasted: ${readOnlyReason(plan.skipped)}`)
  }
  return plan
}

/** Whether a person should see how the text is read, or that records are created with new ids, before it is pasted. */
export function needsPreview({ ambiguous, created }: PastePlan): boolean {
  return ambiguous.length > 0 || created.some((cells) => !hasId(cells))
}

/** Whether a new record has an id in the text. */
export function hasId(cells: PastePlan['created'][number]): boolean {
  return cells.some(({ field, value }) => field.primaryKey && value !== null)
}

/** Creates the new records of a plan, writes the other cells, and returns the covered range. Throws. */
export async function pasteCells(
  context: CellContext,
  plan: PastePlan,
  range: CellRange,
): Promise<CellRange> {
  const { rows, created, skipped, headed } = plan
  if (created.length > 0) await create(context, created)
  const bottom = range.top + rows.length - 1
  const records = rows.length === 0 ? [] : await recordsOf(context, { ...range, bottom })
  await context.editing.commit(
    records.flatMap((record, y) => (rows[y] ?? []).map(({ field, value }) => editOf(record, field, value))),
  )
  if (headed) showSuccess('The first line names the columns and was not pasted')
  if (skipped.length > 0) {
    showWarning(`${countOf(skipped.length, 'column')} not pasted. ${readOnlyReason(skipped)}`)
  }
  const places = plan.fields.map(({ name }) => context.layout.indexByName.get(name) ?? range.left)
  return rows.length === 0
    ? range
    : { top: range.top, bottom, left: Math.min(...places), right: Math.max(...places) }
}

async function create({ editing }: CellContext, created: PastePlan['created']): Promise<void> {
  const records = created.map((cells) =>
    Object.fromEntries(
      cells.filter(({ value }) => value !== null).map(({ field, value }) => [field.name, value]),
    ),
  )
  await editing.create(records).catch((error: unknown) => {
    throw new Error(`Nothing pasted: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  })
  showSuccess(`${countOf(records.length, 'record')} created`)
}
