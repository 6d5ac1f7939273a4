import type { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { server } from '../api/server.ts'
import { newIds, randomIds } from './new-ids.ts'

/** The values of a new record by field; without an id it gets one. */
export type NewRecord = Readonly<Record<string, unknown>>

/**
 * Creates records, all or none, and returns their ids. Those without an id continue the numbers of the sheet, or get
 * random ids. Throws ApiError, with status 412 if one of the ids exists.
 */
export async function createRecords(
  client: QueryClient,
  records: readonly NewRecord[],
  actor: string,
): Promise<readonly string[]> {
  const missing = records.filter(({ id }) => !isId(id)).length
  const ids = await write(records, missing === 0 ? [] : await newIds(missing), actor).catch(
    (error: unknown) => {
      // Someone else may have created a record with the next number.
      const isTaken = error instanceof ApiError && error.status === 412 && missing === records.length
      if (!isTaken) throw error
      return write(records, randomIds(missing), actor)
    },
  )
  void client.invalidateQueries({ queryKey: ['records'] })
  return ids
}

async function write(
  records: readonly NewRecord[],
  made: readonly string[],
  actor: string,
): Promise<readonly string[]> {
  let next = 0
  const identified = records.map((record) => {
    const { id } = record
    return { ...record, id: isId(id) ? id : (made[next++] ?? '') }
  })
  await server.records.upsert(identified, { actor, ifAbsent: true })
  return identified.map(({ id }) => id)
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== ''
}
