import type { JsonObject } from '../../contract/json/json.ts'
import type { Upsert, UpsertResult } from '../../store/sheet-store.ts'
import { readBodyInTurns } from '../../store/rules/upsert-body.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

export interface UpsertOptions {
  /** The one record of the body must be in one of these versions or, with `*`, in any. */
  readonly ifMatch?: Upsert['ifMatch']
  /** Who writes, whatever the body says; null, and the body names the actor. */
  readonly actor?: GivenActor
}

/**
 * Inserts or merges records, all or nothing (D13). `body` is `{"records": [...], "actor"?: string}` or its JSON text in
 * UTF-8, which is then parsed by the store's writing thread. Throws ValidationError, PreconditionFailedError and PermissionDeniedError.
 */
export async function upsertRecords(
  sheet: Sheet,
  body: Uint8Array | JsonObject,
  options: UpsertOptions | null = null,
): Promise<UpsertResult> {
  const { ifMatch = null, actor = null } = options ?? {}
  const request = { body, defaultActor: sheet.defaultActor, ifMatch }
  if (actor instanceof Error) {
    // The shape comes before the actor (D36).
    await readBodyInTurns({ ...request, actor: 'nobody' })
    throw actor
  }
  const upsert: Upsert = actor === null ? request : { ...request, actor: resolveActor(sheet, actor) }
  const { store } = await sheet.deriving().catch(async (error: unknown) => {
    // What is wrong with the request itself is told before what is wrong with the sheet (D36).
    await readBodyInTurns(upsert)
    throw error
  })
  return store.upsert(upsert)
}
