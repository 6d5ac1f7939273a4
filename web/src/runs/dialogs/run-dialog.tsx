import { useSyncExternalStore } from 'react'
import type { RunOrder } from '../../../../src/client/client.ts'
import type { SheetContract } from '../../api/contract.ts'
import { OrderDialog } from './order-dialog.tsx'

interface Asked {
  readonly order: RunOrder
  readonly title: string
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

/** Shows what a run would do and cost, and runs it if somebody wants that. */
export function openRunDialog(order: RunOrder, title: string): void {
  replace({ order, title })
}

/** Where the dialog is; once on the page. */
export function RunDialog({ contract }: { readonly contract: SheetContract }) {
  const shown = useSyncExternalStore(subscribe, () => asked)
  if (shown === null) return null
  return (
    <OrderDialog contract={contract} order={shown.order} title={shown.title} onClose={() => replace(null)} />
  )
}
