import type { QueryClient } from '@tanstack/react-query'
import { server } from '../../api/server.ts'
import { showSuccess, showError } from '../../ui/toasts.tsx'
import { countOf, formatCount } from '../../ui/format.ts'

/** The number of records in one request. */
const RECORDS_AT_ONCE = 10_000

export interface RestoreOrder {
  readonly ids: readonly string[]
  readonly actor: string
}

/** Restores deleted records and shows the result. */
export async function restoreRecords(client: QueryClient, { ids, actor }: RestoreOrder): Promise<void> {
  let restored = 0
  try {
    for (let from = 0; from < ids.length; from += RECORDS_AT_ONCE) {
      const some = ids.slice(from, from + RECORDS_AT_ONCE)
      restored += (await server.records.restore(some, { actor })).reverted
    }
    showSuccess(`${countOf(restored, 'record')} restored`)
  } catch (error) {
    if (restored > 0) showSuccess(`${countOf(restored, 'record')} of ${formatCount(ids.length)} restored`)
    showError(error)
  } finally {
    void client.invalidateQueries({ queryKey: ['records'] })
  }
}
