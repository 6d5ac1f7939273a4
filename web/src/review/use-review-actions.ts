import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { recordQuery } from '../api/queries.ts'
import { server } from '../api/server.ts'
import { useEditing } from '../editing/use-editing.ts'
import { retryCell } from '../runs/dialogs/retry-cell.ts'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { useActor } from '../state/actor.ts'
import { showError, showSuccess } from '../ui/toasts.tsx'
import type { QueuedCell } from './review-queue.ts'

/** The actions on the cell under review, and its value. */
export interface ReviewActions {
  readonly field: SheetField | null
  readonly value: unknown
  readonly mayCorrect: boolean
  readonly mayRetry: boolean
  /** Approves or flags the value that is shown; returns whether that was stored. Shows errors. */
  review(verdict: 'approved' | 'flagged', note?: string): Promise<boolean>
  correct(value: unknown): void
  retry(): void
}

export function useReviewActions(contract: SheetContract, cell: QueuedCell | null): ReviewActions {
  const client = useQueryClient()
  const [actor] = useActor()
  const editing = useEditing(contract)
  const field = cell === null ? null : (contract.fieldByName.get(cell.field) ?? null)
  const record = useQuery({ ...recordQuery(cell?.recordId ?? ''), enabled: cell !== null })
  const value = cell === null ? undefined : record.data?.[cell.field]
  return {
    field,
    value,
    mayCorrect: field !== null && record.data !== undefined && editing.mayWrite(field),
    mayRetry: field !== null && field.derived !== null,
    review: async (verdict, note = '') => {
      // The value must be seen before it is reviewed.
      if (cell === null || record.data === undefined) return false
      const { recordId, field: name } = cell
      try {
        await server.cells.review([{ record_id: recordId, field: name, value: value ?? null }], verdict, {
          actor,
          ...(note !== '' && { note }),
        })
        await client.invalidateQueries({ queryKey: ['records', 'reviews'] })
        showSuccess(
          `${verdict === 'approved' ? 'Approved' : 'Flagged'} ${contract.titleOf(name)} of ${recordId}`,
        )
        return true
      } catch (error) {
        showError(error)
        await record.refetch()
        return false
      }
    },
    correct: (corrected) => {
      if (cell === null || field === null) return
      const change = { recordId: cell.recordId, field, value: corrected, previous: value ?? null }
      editing.commit([change]).catch(showError)
    },
    retry: () => {
      if (cell === null) return
      const { recordId, field: name, state } = cell
      if (state === 'failed') retryCell(cell, actor).catch(showError)
      else
        openRunDialog(
          { targets: [name], record_ids: [recordId], force: true },
          `Recompute ${contract.titleOf(name)} of ${recordId}`,
        )
    },
  }
}
