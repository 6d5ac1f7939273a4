import type { RunOrder } from '../../../../src/client/client.ts'
import { server } from '../../api/server.ts'
import type { CellRef } from '../../state/view-state.ts'
import { isNothing } from '../display/plan-text.ts'
import { openRunDialog } from './run-dialog.tsx'
import { runningStore } from '../progress/running-store.ts'

/** Retries a failed cell: at once if its calls are free, else after confirmation in the dialog. Throws ApiError. */
export async function retryCell({ recordId, field }: CellRef, actor: string): Promise<void> {
  await retry({ targets: [field], record_ids: [recordId] }, `Retry ${field} of ${recordId}`, actor)
}

/** Retries the failed cells of an order, as {@link retryCell} does. The title is that of the dialog. Throws ApiError. */
export async function retry(cells: RunOrder, title: string, actor: string): Promise<void> {
  const order: RunOrder = { ...cells, only: 'failed' }
  const plan = await server.runs.plan(order, { actor })
  if (plan.cost > 0 || isNothing(plan)) {
    openRunDialog(order, title)
    return
  }
  runningStore.begin(await server.runs.start(order, { actor }))
}
