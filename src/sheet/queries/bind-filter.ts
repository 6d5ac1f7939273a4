import { QueryError } from '../../errors/service-error.ts'
import type { SqlParam } from '../../store/sheet-store.ts'
import type { Sheet } from '../sheet.ts'

/**
 * Returns a filter (D16) with values in place of its `?`, for operations that take a filter without placeholders.
 * Throws QueryError for values without a filter, and when there are more or fewer values than placeholders.
 */
export async function bindFilter(
  sheet: Sheet,
  filter: string | null,
  params: readonly SqlParam[],
): Promise<string | null> {
  if (filter === null) {
    if (params.length === 0) return null
    throw new QueryError(
      `values for placeholders: ${params.length}, but no filter with a ? for each`,
      'wrong_parameters',
    )
  }
  const { store } = await sheet.current()
  return store.boundFilter(filter, params)
}
