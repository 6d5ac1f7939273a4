import { server } from '../api/server.ts'
import { splitIds } from '../api/split-ids.ts'

/** The number of records in one request to restore. */
const RECORDS_AT_ONCE = 10_000

/** Deletes records and returns how many existed; `onPart` is called after each request. Throws ApiError. */
export async function deleteAll(
  ids: readonly string[],
  actor: string,
  onPart: (part: readonly string[], deleted: number) => void = () => undefined,
): Promise<number> {
  let deleted = 0
  for (const part of splitIds(ids)) {
    deleted += (await server.records.delete(part, { actor })).deleted
    onPart(part, deleted)
  }
  return deleted
}

/** Restores deleted records and returns their number; `onPart` is called after each request. Throws ApiError. */
export async function restoreAll(
  ids: readonly string[],
  actor: string,
  onPart: (restored: number) => void = () => undefined,
): Promise<number> {
  let restored = 0
  for (let from = 0; from < ids.length; from += RECORDS_AT_ONCE) {
    restored += (await server.records.restore(ids.slice(from, from + RECORDS_AT_ONCE), { actor })).reverted
    onPart(restored)
  }
  return restored
}
