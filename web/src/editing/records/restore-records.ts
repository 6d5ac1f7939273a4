import type { QueryClient } from '@tanstack/react-query'
import { showSuccess, showError } from '../../ui/toasts.tsx'
import { restoreAll } from '../change-records.ts'
import { removeFromUndo } from '../use-editing.ts'
import { countOf, formatCount } from '../../ui/format.ts'

export interface RestoreOrder {
  readonly ids: readonly string[]
  readonly actor: string
}

/** Restores deleted records and shows the result. */
export async function restoreRecords(client: QueryClient, { ids, actor }: RestoreOrder): Promise<void> {
  let restored = 0
  try {
    await restoreAll(ids, actor, (count) => (restored = count))
    removeFromUndo(ids)
    showSuccess(`${countOf(restored, 'record')} restored`)
  } catch (error) {
    if (restored > 0) showSuccess(`${countOf(restored, 'record')} of ${formatCount(ids.length)} restored`)
    showError(error)
  } finally {
    void client.invalidateQueries({ queryKey: ['records'] })
  }
}
