import type { NewRecord } from '../../editing/create-records.ts'
import { showSuccess } from '../../ui/toasts.tsx'
import type { GridModel } from './use-grid.ts'

/** Whether a record can be created without values: no field but the id is required. */
export function mayBeEmpty({ contract }: GridModel): boolean {
  return contract.fields.every(({ required, primaryKey }) => !required || primaryKey)
}

/** Creates a record without values and moves to its first cell that can be edited. Throws ApiError. */
export async function addEmptyRecord(model: GridModel): Promise<void> {
  const { columns, editing } = model
  const first = columns.layout.columns.find(({ field }) => editing.mayWrite(field))
  const id = await createRecords(model, [{}], first?.field.name)
  if (id !== undefined) showSuccess(`Record ${id} created`)
}

/**
 * Creates records, moves to a cell of the first, and returns its id. No cell is selected meanwhile, and keys do nothing: what is typed
 * for the new record must not change another one. Throws ApiError.
 */
export async function createRecords(
  { contract, editing, selecting }: GridModel,
  records: readonly NewRecord[],
  field: string = contract.fields[0]?.name ?? 'id',
): Promise<string | undefined> {
  const before = selecting.cell
  selecting.suspend()
  const back = (): void => {
    if (before === null) selecting.clear()
    else selecting.reveal(before)
  }
  const [id] = await editing.create(records).catch((error: unknown) => {
    back()
    throw error
  })
  if (id === undefined) back()
  else selecting.reveal({ recordId: id, field })
  return id
}
