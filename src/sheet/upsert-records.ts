import type { JsonObject } from '../contract/json.ts'
import type { Upsert, UpsertResult } from '../store/sheet-store.ts'
import { readBody } from '../store/upsert-body.ts'
import type { Sheet } from './sheet.ts'

/**
 * Inserts or merges records, all or nothing (D13). `body` is `{"records": [...], "actor"?: string}` or its JSON text in
 * UTF-8, which is then parsed by the store's writing thread; its one record must be in one of the versions of `ifMatch`,
 * when that is given. Throws ValidationError, PreconditionFailedError and PermissionDeniedError.
 */
export async function upsertRecords(
  sheet: Sheet,
  body: Uint8Array | JsonObject,
  ifMatch: Upsert['ifMatch'] = null,
): Promise<UpsertResult> {
  const upsert: Upsert = { body, defaultActor: sheet.defaultActor, ifMatch }
  const { store } = await sheet.deriving().catch((error: unknown) => {
    // What is wrong with the request itself is told before what is wrong with the sheet (D36).
    readBody(upsert)
    throw error
  })
  return store.upsert(upsert)
}
