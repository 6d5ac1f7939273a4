import { ApiError, messageOf } from '../../api/api-error.ts'
import { server } from '../../api/server.ts'
import type { RecordPatch } from '../../../../src/client/client.ts'

/** The violations of a new record: by field of the form, and others. */
export interface CreateErrors {
  readonly byField: Readonly<Record<string, string>>
  readonly other: string | null
}

/** Creates a record and returns null, or the violations. */
export async function createRecord(
  record: RecordPatch,
  shown: ReadonlySet<string>,
  actor: string,
): Promise<CreateErrors | null> {
  try {
    await server.records.upsert([record], { actor, ifAbsent: true })
    return null
  } catch (error) {
    if (error instanceof ApiError && error.status === 412) {
      return { byField: { id: `record ${record.id} already exists` }, other: null }
    }
    return errorsOf(error, shown)
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
