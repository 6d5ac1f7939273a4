import type { ClipboardEvent } from 'react'
import { showError } from '../../ui/toasts.tsx'
import { clearRange, textOfRange } from './cell-actions.ts'
import { needsPreview, pasteCells, planOf, type Paste } from './paste-cells.ts'
import { HEAD_ROW, rangeOf, type CellRange } from '../selection/cell-range.ts'
import type { GridModel } from './use-grid.ts'

interface ClipboardHandlers {
  /** Pastes a text into the selected cells. */
  readonly pasteText: (text: string) => void
  readonly handlers: ClipboardEvents
}

interface ClipboardEvents {
  onCopy(event: ClipboardEvent<HTMLElement>): void
  onCut(event: ClipboardEvent<HTMLElement>): void
  onPaste(event: ClipboardEvent<HTMLElement>): void
}

interface ClipboardHost {
  /** Shows a paste before it is done. */
  readonly preview: (paste: Paste) => void
  readonly onPasted: (range: CellRange) => void
}

/** An empty list has no cell to select: texts become its first records. */
const FIRST_CELL: CellRange = { top: 0, bottom: 0, left: 0, right: 0 }

/** Copies, cuts and pastes the selected cells as tab-separated text. */
export function useClipboard(model: GridModel, { preview, onPasted }: ClipboardHost): ClipboardHandlers {
  /** Returns the selected cells; null if the event is not for the grid. */
  const rangeFor = (event: ClipboardEvent<HTMLElement>): CellRange | null => {
    const { selection } = model.selecting
    if (event.target !== event.currentTarget || selection === null || selection.focus.row === HEAD_ROW)
      return null
    event.preventDefault()
    return rangeOf(selection)
  }
  const pasteText = (text: string): void => {
    const { selection } = model.selecting
    const range =
      model.rows.count === 0
        ? FIRST_CELL
        : selection === null || selection.focus.row === HEAD_ROW
          ? null
          : rangeOf(selection)
    if (range === null) return
    const paste = { text, range }
    try {
      const plan = planOf(model.context, paste)
      if (needsPreview(plan)) preview(paste)
      else pasteCells(model.context, plan, range).then(onPasted, showError)
    } catch (error) {
      showError(error)
    }
  }
  const handlers: ClipboardEvents = {
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
      if (event.target !== event.currentTarget) return
      event.preventDefault()
      pasteText(event.clipboardData.getData('text/plain'))
    },
  }
  return { pasteText, handlers }
}

/** Loads missing rows first and then writes to the clipboard asynchronously. */
async function copy({ context }: GridModel, range: CellRange, event: ClipboardEvent): Promise<void> {
  const text = textOfRange(context, range)
  if (typeof text === 'string') event.clipboardData.setData('text/plain', text)
  else await navigator.clipboard.writeText(await text)
}
