import { checkMayDelete } from '../../contract/rules/permissions.ts'
import { ValidationError, type ServiceError } from '../../errors/service-error.ts'
import type { DeleteResult, Upsert } from '../../store/sheet-store.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

export interface DeleteRequest {
  readonly ids: readonly string[]
  readonly actor: GivenActor
  /** The versions of which the single record must have one; `*` requires that it exists. An error is thrown after those of the request. */
  readonly ifMatch?: Upsert['ifMatch'] | ServiceError
}

/** The predicted result of a deletion. */
export interface DeletePlan extends DeleteResult {
  /** The ids that no record has. */
  readonly missing: readonly string[]
}

/** Predicts {@link deleteRecords}, without a condition on versions; changes nothing. Throws as it does. */
export async function planDelete(
  sheet: Sheet,
  { ids, actor }: Pick<DeleteRequest, 'ids' | 'actor'>,
): Promise<DeletePlan> {
  checkIds(ids)
  const writer = resolveActor(sheet, actor)
  const { contract, store } = await sheet.current()
  checkMayDelete(contract, writer, 'delete records')
  const distinct = [...new Set(ids)]
  const found = await store.recordKeys(distinct)
  const { total } = await store.status()
  return {
    deleted: found.size,
    remaining: total - found.size,
    missing: distinct.filter((id) => !found.has(id)),
  }
}

/**
 * Deletes records by id; ids that do not exist are ignored (D15). Throws ValidationError, PreconditionFailedError and
 * PermissionDeniedError.
 */
export async function deleteRecords(
  sheet: Sheet,
  { ids, actor, ifMatch = null }: DeleteRequest,
): Promise<DeleteResult> {
  checkIds(ids)
  if (ifMatch !== null && ids.length !== 1) {
    throw new ValidationError(
      `a condition on the version requires one record, and ids has ${ids.length}; delete them one by one`,
      'conflicting_parameters',
    )
  }
  const writer = resolveActor(sheet, actor)
  if (ifMatch instanceof Error) throw ifMatch
  const { store } = await sheet.current()
  return store.delete(ids, writer, ifMatch)
}

function checkIds(ids: readonly string[]): void {
  if (ids.length === 0) throw new ValidationError('ids is required: the ids of the records to delete')
}
