import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { CellRef } from '../../state/view-state.ts'
import { showError } from '../../ui/toasts.tsx'
import { selectPlace, type CellSelection } from './cell-range.ts'
import type { ColumnLayout } from '../layout/column-layout.ts'
import { locateRecord, storedRow } from '../rows/locate-record.ts'
import type { ScrollController } from '../layout/scroll-controller.ts'
import type { Rows } from '../rows/use-rows.ts'

interface Revealing {
  readonly rows: Rows
  readonly layout: ColumnLayout
  readonly scroller: ScrollController
  /** Called with the cell's place; null if it has none. */
  readonly arrive: (selection: CellSelection | null, cell: CellRef) => void
}

/** Moves to a record once rows are loaded: searches the loaded rows, then asks the server. */
export function useReveal({ rows, arrive, layout, scroller }: Revealing): (cell: CellRef) => void {
  const client = useQueryClient()
  const [wanted, setWanted] = useState<CellRef | null>(null)
  const isReady = rows.count !== null && !rows.isWaiting && rows.at(0) !== undefined
  useEffect(() => {
    if (wanted === null || !isReady) return
    const stop = new AbortController()
    const { recordId, field } = wanted
    const { signal } = stop
    const goThere = async (): Promise<void> => {
      // A list that has just been left clears its selection first.
      await Promise.resolve()
      const guess = storedRow(recordId)
      const row =
        rows.find(recordId) ?? (await locateRecord(client, rows.selection, recordId, { guess, signal }))
      if (signal.aborted) return
      setWanted(null)
      const column = layout.indexByName.get(field) ?? 0
      arrive(row === null ? null : selectPlace({ row, column }), wanted)
      if (row === null) return
      // After a reload, the grid gets the keyboard focus.
      if (document.activeElement === document.body) scroller.element?.focus({ preventScroll: true })
    }
    goThere().catch((error: unknown) => {
      if (signal.aborted) return
      setWanted(null)
      arrive(null, wanted)
      showError(error)
    })
    return () => stop.abort()
    // oxlint-disable-next-line react/exhaustive-deps
  }, [wanted, isReady])
  return setWanted
}
