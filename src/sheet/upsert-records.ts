import type { JsonObject } from '../contract/json.ts'
import type { UpsertResult } from '../store/sheet-store.ts'
import type { Sheet } from './sheet.ts'

/**
 * Inserts or merges records, all or nothing (D13). `body` is `{"records": [...], "actor"?: string}` or its JSON text in
 * UTF-8, which is then parsed by the store's writing thread. Throws ValidationError and PermissionDeniedError.
 */
export async function upsertRecords(sheet: Sheet, body: Uint8Array | JsonObject): Promise<UpsertResult> {
  const { store } = await sheet.deriving()
  return store.upsert({ body, defaultActor: sheet.defaultActor })
}
