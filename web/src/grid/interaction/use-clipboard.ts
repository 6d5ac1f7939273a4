import type { ClipboardEvent } from 'react'
import { showError } from '../../ui/toasts.tsx'
import { clearRange, pasteAt, textOfRange } from './cell-actions.ts'
import { HEAD_ROW, rangeOf, type CellRange } from '../selection/cell-range.ts'
import type { GridModel } from './use-grid.ts'

interface ClipboardHandlers {
  onCopy(event: ClipboardEvent<HTMLElement>): void
  onCut(event: ClipboardEvent<HTMLElement>): void
  onPaste(event: ClipboardEvent<HTMLElement>): void
}

/** Copies, cuts and pastes the selected cells as tab-separated text. */
export function useClipboard(model: GridModel): ClipboardHandlers {
  /** Returns the selected cells; null if the event is not for the grid. */
  const rangeFor = (event: ClipboardEvent<HTMLElement>): CellRange | null => {
    const { selection } = model.selecting
    if (event.target !== event.currentTarget || selection === null || selection.focus.row === HEAD_ROW)
      return null
    event.preventDefault()
    return rangeOf(selection)
  }
  return {
    onCopy: (event) => {
      const range = rangeFor(event)
      if (range !== null) copy(model, range, event).catch(showError)
    },
    onCut: (event) => {
      const range = rangeFor(event)
      if (range === null) return
      copy(model, range, event)
        .then(() => clearRange(model.context, range))
        .catch(showError)
    },
    onPaste: (event) => {
      const range = rangeFor(event)
      if (range === null) return
      pasteAt(model.context, event.clipboardData.getData('text/plain'), range)
        .then(({ top, left, bottom, right }) =>
          model.selecting.selectQuietly({
            focus: { row: top, column: left },
            end: { row: bottom, column: right },
          }),
        )
        .catch(showError)
    },
  }
}

/** Loads missing rows first and then writes to the clipboard asynchronously. */
async function copy({ context }: GridModel, range: CellRange, event: ClipboardEvent): Promise<void> {
  const text = textOfRange(context, range)
  if (typeof text === 'string') event.clipboardData.setData('text/plain', text)
  else await navigator.clipboard.writeText(await text)
}
