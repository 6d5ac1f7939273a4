import { showSuccess } from '../../ui/toasts.tsx'
import type { GridModel } from './use-grid.ts'

/** Whether a record can be created without values: no field but the id is required. */
export function mayBeEmpty({ contract }: GridModel): boolean {
  return contract.fields.every(({ required, primaryKey }) => !required || primaryKey)
}

/**
 * Creates a record without values and moves to its first cell that can be edited. No cell is selected meanwhile: what is typed for the new
 * record must not change another one. Throws ApiError.
 */
export async function addEmptyRecord({ contract, columns, editing, selecting }: GridModel): Promise<void> {
  const before = selecting.cell
  selecting.suspend()
  const [id] = await editing.create([{}]).catch((error: unknown) => {
    if (before !== null) selecting.reveal(before)
    throw error
  })
  if (id === undefined) return
  const first = columns.layout.columns.find(({ field }) => editing.mayWrite(field))
  selecting.reveal({ recordId: id, field: first?.field.name ?? contract.fields[0]?.name ?? 'id' })
  showSuccess(`Record ${id} created`)
}
