import type { JsonObject } from '../../contract/json/json.ts'

/** Records as the store hands them out: JSON text in UTF-8, an array each time, every record with all fields. */
export type RecordPages = AsyncIterable<Uint8Array>

/** The records of a page. */
export function parsePage(page: Uint8Array): readonly JsonObject[] {
  return JSON.parse(Buffer.from(page.buffer, page.byteOffset, page.byteLength).toString()) as JsonObject[]
}
