import { server } from './server.ts'

/** The server's limit of ids in a condition, and a limit that keeps a URL short enough. */
const IDS_AT_ONCE = 1000
const CHARACTERS_AT_ONCE = 50_000

/** Reads the records that exist among these ids, with `id` and the given fields. Throws ApiError. */
export async function readRecordsById(
  ids: readonly string[],
  fields: readonly string[],
  signal?: AbortSignal,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const selected = ['id', ...fields.filter((name) => name !== 'id')]
  const found: Readonly<Record<string, unknown>>[] = []
  for (const value of partsOf(ids)) {
    const where = { field: 'id', operator: 'any_of', value } as const
    const selection = { where, fields: selected, limit: value.length }
    for await (const records of server.records.pages(selection, { signal })) found.push(...records)
  }
  return found
}

/** Divides ids into parts that fit into a condition and a URL. */
export function partsOf(ids: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = []
  let part: string[] = []
  let characters = 0
  for (const id of ids) {
    const length = encodeURIComponent(JSON.stringify(id)).length
    if (part.length === IDS_AT_ONCE || (part.length > 0 && characters + length > CHARACTERS_AT_ONCE)) {
      parts.push(part)
      part = []
      characters = 0
    }
    part.push(id)
    characters += length
  }
  return part.length === 0 ? parts : [...parts, part]
}
