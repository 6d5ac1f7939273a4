import { useSyncExternalStore } from 'react'
import type { RunOrder } from '../../../../src/client/client.ts'
import type { SheetContract } from '../../api/contract.ts'
import { OrderDialog } from './order-dialog.tsx'

interface Asked {
  readonly order: RunOrder
  readonly title: string
  /** The reason to think twice; null for none. */
  readonly doubt: string | null
}

let asked: Asked | null = null
const listeners = new Set<() => void>()

function replace(next: Asked | null): void {
  asked = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Opens the dialog that shows the plan and cost of a run and starts it on request. */
export function openRunDialog(order: RunOrder, title: string, doubt: string | null = null): void {
  replace({ order, title, doubt })
}

/** Opens the dialog for a run of all pending cells. */ export function openPendingRun(): void {
  openRunDialog({}, 'Compute missing, stale and failed cells')
}

/** Opens the dialog for a run of all failed cells. */ export function openRetryRun(): void {
  openRunDialog({ only: 'failed' }, 'Retry failed cells')
}

/** Renders the dialog that {@link openRunDialog} opens; mounted once. */
export function RunDialog({ contract }: { readonly contract: SheetContract }) {
  const shown = useSyncExternalStore(subscribe, () => asked)
  if (shown === null) return null
  return <OrderDialog contract={contract} {...shown} onClose={() => replace(null)} />
}
