import { ApiError, messageOf } from '../../api/api-error.ts'
import type { QueryClient } from '@tanstack/react-query'
import { createRecords, type NewRecord } from '../create-records.ts'

/** The violations of a new record: by field of the form, and others. */
export interface CreateErrors {
  readonly byField: Readonly<Record<string, string>>
  readonly other: string | null
}

/** Creates a record, with an id if it has none, and returns its id, or the violations. */
export async function createRecord(
  client: QueryClient,
  record: NewRecord,
  { shown, actor }: { readonly shown: ReadonlySet<string>; readonly actor: string },
): Promise<{ readonly id: string } | CreateErrors> {
  try {
    const [id = ''] = await createRecords(client, [record], actor)
    return { id }
  } catch (error) {
    if (error instanceof ApiError && error.status === 412) {
      return { byField: { id: `record ${String(record['id'])} already exists` }, other: null }
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
