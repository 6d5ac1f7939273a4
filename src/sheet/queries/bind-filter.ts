import { QueryError } from '../../errors/service-error.ts'
import type { SqlParam } from '../../store/sheet-store.ts'
import type { Sheet } from '../sheet.ts'

/**
 * A filter (D16) with values in the places of its `?`, for {@link listRecords} and others that take one without placeholders. Throws
 * QueryError for values without a filter, and where there are more or fewer values than placeholders.
 */
export async function bindFilter(
  sheet: Sheet,
  filter: string | null,
  params: readonly SqlParam[],
): Promise<string | null> {
  if (filter === null) {
    if (params.length === 0) return null
    throw new QueryError(`values for placeholders: ${params.length}, but no filter with a ? for each`)
  }
  const { store } = await sheet.current()
  return store.boundFilter(filter, params)
}
