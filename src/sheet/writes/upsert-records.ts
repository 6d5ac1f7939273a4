import type { JsonObject } from '../../contract/json/json.ts'
import type { ServiceError } from '../../errors/service-error.ts'
import type { Upsert, UpsertResult } from '../../store/sheet-store.ts'
import { readBodyInTurns } from '../../store/rules/upsert-body.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

export interface UpsertOptions {
  /** The versions of which the single record must have one; `*` requires that it exists. An error is thrown after those of the request. */
  readonly ifMatch?: Upsert['ifMatch'] | ServiceError
  /** Whether none of the records may exist (default: false). */
  readonly ifAbsent?: boolean
  /** The actor, which overrides that of the body; null takes that of the body. */
  readonly actor?: GivenActor
}

/**
 * Inserts or merges records, all or none (D13). `body` is `{"records": [...], "actor"?: string}` or its JSON text in
 * UTF-8, which the store's writing thread parses. Throws ValidationError, PreconditionFailedError and
 * PermissionDeniedError.
 */
export async function upsertRecords(
  sheet: Sheet,
  body: Uint8Array | JsonObject,
  options: UpsertOptions | null = null,
): Promise<UpsertResult> {
  const { ifMatch = null, ifAbsent = false, actor = null } = options ?? {}
  const request = {
    body,
    defaultActor: sheet.defaultActor,
    ifMatch: ifMatch instanceof Error ? '*' : ifMatch,
    ifAbsent,
  } as const
  if (actor instanceof Error) {
    // The shape is validated before the actor (D36).
    await readBodyInTurns({ ...request, actor: 'nobody' })
    throw actor
  }
  const upsert: Upsert = actor === null ? request : { ...request, actor: resolveActor(sheet, actor) }
  const defined = ifMatch instanceof Error ? Promise.reject(ifMatch) : sheet.defined()
  const { store } = await defined.catch(async (error: unknown) => {
    // Errors of the request come before those of the sheet (D36).
    await readBodyInTurns(upsert)
    throw error
  })
  return store.upsert(upsert)
}
