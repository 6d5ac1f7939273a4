import { ValidationError } from '../errors/service-error.ts'
import type { DeleteResult, Upsert } from '../store/sheet-store.ts'
import { resolveActor, type GivenActor } from './resolve-actor.ts'
import type { Sheet } from './sheet.ts'

export interface DeleteRequest {
  readonly ids: readonly string[]
  readonly actor: GivenActor
  /** The one record must exist, in one of these versions or, with `*`, in any. */
  readonly ifMatch?: Upsert['ifMatch']
}

/**
 * Deletes records by id; ids that do not exist are no error (D15). Throws ValidationError, PreconditionFailedError and
 * PermissionDeniedError.
 */
export async function deleteRecords(
  sheet: Sheet,
  { ids, actor, ifMatch = null }: DeleteRequest,
): Promise<DeleteResult> {
  if (ids.length === 0)
    throw new ValidationError('ids is required: the ids of the records to delete, comma-separated')
  if (ifMatch !== null && ids.length !== 1) {
    throw new ValidationError(
      `a condition on the version is about one record, and ids has ${ids.length}; delete them one by one`,
    )
  }
  const writer = resolveActor(sheet, actor)
  const { store } = await sheet.current()
  return store.delete(ids, writer, ifMatch)
}
