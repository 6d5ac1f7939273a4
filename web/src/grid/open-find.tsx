import { useCallback, useState } from 'react'
import { showError } from '../ui/toasts.tsx'
import { FindBar } from '../find/find-bar.tsx'
import { useFindKey } from '../find/use-find-key.ts'
import type { GridModel } from './interaction/use-grid.ts'

/** The bar that finds a text, opened by Ctrl+F. */
export interface Finding {
  /** The number of times that it was asked for since it was opened; null while it is closed. */
  readonly asked: number | null
  open(): void
  close(): void
}

/** `isPast`: an earlier state is not searched. */
export function useFinding(isPast: boolean): Finding {
  const [count, setAsked] = useState<number | null>(null)
  const asked = isPast ? null : count
  const open = useCallback(() => {
    if (isPast) showError(new Error('Earlier states cannot be searched. Go back to now to find a text.'))
    else setAsked((times) => (times ?? 0) + 1)
  }, [isPast])
  const close = useCallback(() => setAsked(null), [])
  useFindKey(open)
  return { asked, open, close }
}

/**
 * The bar over the grid, while it is open. It is loaded with the grid: it has the focus before the next key is pressed, which would
 * otherwise be typed into the selected cell.
 */
export function OpenFind({ model, finding }: { readonly model: GridModel; readonly finding: Finding }) {
  const { rows, columns, selecting, scroller } = model
  const { asked, close } = finding
  if (asked === null) return null
  return (
    <FindBar
      place={{
        list: rows.selection,
        fields: columns.layout.columns.map(({ field }) => field),
        cell: selecting.cell,
        reveal: selecting.reveal,
      }}
      grid={scroller.element}
      asked={asked}
      onClose={() => {
        close()
        scroller.element?.focus({ preventScroll: true })
      }}
    />
  )
}
