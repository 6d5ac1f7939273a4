import { ValidationError } from '../errors/service-error.ts'
import type { DeleteResult } from '../store/sheet-store.ts'
import { resolveActor } from './resolve-actor.ts'
import type { Sheet } from './sheet.ts'

/** Deletes records by id; ids that do not exist are no error (D15). Throws ValidationError, PermissionDeniedError. */
export async function deleteRecords(
  sheet: Sheet,
  { ids, actor }: { readonly ids: readonly string[]; readonly actor: string | null },
): Promise<DeleteResult> {
  if (ids.length === 0)
    throw new ValidationError('ids is required: the ids of the records to delete, comma-separated')
  const writer = resolveActor(sheet, actor)
  const { store } = await sheet.current()
  return store.delete(ids, writer)
}
