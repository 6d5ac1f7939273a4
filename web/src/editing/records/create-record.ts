import { ApiError, messageOf } from '../../api/api-error.ts'
import { server } from '../../api/server.ts'
import type { RecordPatch } from '../../../../src/client/client.ts'

/** The violations of a new record: by field of the form, and others. */
export interface CreateErrors {
  readonly byField: Readonly<Record<string, string>>
  readonly other: string | null
}

/**
 * Creates a record and returns null, or the violations. Checks first that the id is free, because a write to an
 * existing id would update that record.
 */
export async function createRecord(
  record: RecordPatch,
  shown: ReadonlySet<string>,
  actor: string,
): Promise<CreateErrors | null> {
  try {
    if (await exists(record.id)) {
      return { byField: { id: `record ${record.id} already exists` }, other: null }
    }
    await server.records.upsert([record], { actor })
    return null
  } catch (error) {
    return errorsOf(error, shown)
  }
}

async function exists(id: string): Promise<boolean> {
  // Invalid in a URL path; the upsert reports them as invalid ids.
  if (id === '.' || id === '..') return false
  try {
    await server.records.get(id, { fields: ['id'] })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false
    throw error
  }
}

/** Assigns the violations of a refused record to the fields of the form. */
export function errorsOf(error: unknown, shown: ReadonlySet<string>): CreateErrors {
  const errors = error instanceof ApiError ? error.violations : []
  if (errors.length === 0) return { byField: {}, other: messageOf(error) }
  const others = errors
    .filter(({ field }) => !shown.has(field))
    .map(({ field, message }) => `${field}: ${message}`)
  return {
    byField: Object.fromEntries(
      errors.filter(({ field }) => shown.has(field)).map(({ field, message }) => [field, message]),
    ),
    other: others.length > 0 ? others.join('; ') : null,
  }
}
