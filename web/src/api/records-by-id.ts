import { server } from './server.ts'
import { splitIds } from './split-ids.ts'

/** The server's limit of values in a condition. */
const MAX_VALUES = 1000

/** Reads the records that exist among these ids, with `id` and the given fields; null for all fields. Throws ApiError. */
export async function readRecordsById(
  ids: readonly string[],
  fields: readonly string[] | null,
  signal?: AbortSignal,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const selected = fields === null ? null : ['id', ...fields.filter((name) => name !== 'id')]
  const found: Readonly<Record<string, unknown>>[] = []
  for (const value of splitIds(ids, MAX_VALUES)) {
    const where = { field: 'id', operator: 'any_of', value } as const
    const selection = { where, limit: value.length, ...(selected !== null && { fields: selected }) }
    for await (const records of server.records.pages(selection, { signal })) found.push(...records)
  }
  return found
}
