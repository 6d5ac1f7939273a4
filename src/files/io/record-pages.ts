import type { JsonObject } from '../../contract/json/json.ts'

/** Pages of records from the store: each a JSON array in UTF-8, every record with all fields. */
export type RecordPages = AsyncIterable<Uint8Array>

/** The records of a page. */
export function parsePage(page: Uint8Array): readonly JsonObject[] {
  return JSON.parse(Buffer.from(page.buffer, page.byteOffset, page.byteLength).toString()) as JsonObject[]
}
