import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { CellEditor } from '../editing/editors/cell-editor.tsx'
import { RefusedNotice } from '../editing/refused-notice.tsx'
import { SelectedCells } from '../editing/editors/editor-overlay.tsx'
import { FillHandle } from './fill-handle.tsx'
import { isSingle, sizeOf, type Place } from './selection/cell-range.ts'
import type { ScrollController } from './layout/scroll-controller.ts'
import type { Editor } from './interaction/use-editor.ts'
import type { GridModel } from './interaction/use-grid.ts'

interface GridOverlayProps {
  readonly model: GridModel
  readonly editor: Editor
}

/** The elements over cells: the editor, and the reason for a refused edit. */
export function GridOverlay({ model, editor }: GridOverlayProps) {
  const { open } = editor
  if (open !== null)
    return <OpenCellEditor key={`${open.recordId} ${open.field.name}`} model={model} editor={editor} />
  return (
    <>
      <FillHandle model={model} />
      <Refusal model={model} editor={editor} />
    </>
  )
}

function OpenCellEditor({ model: { columns, scroll, scroller }, editor }: GridOverlayProps) {
  const { open } = editor
  if (open === null) return null
  return (
    <Over columns={columns} scroller={scroller} place={open} firstRow={scroll.rows.first}>
      <SelectedCells value={sizeOf(open.range)}>
        <CellEditor
          field={open.field}
          value={open.value}
          typed={open.typed}
          onCommit={editor.commit}
          onCancel={editor.cancel}
        />
      </SelectedCells>
    </Over>
  )
}

/** The refusal of the selected cell's edit. */
function Refusal({ model, editor }: GridOverlayProps) {
  const { columns, editing, selecting, scroll, scroller } = model
  const { selection, cell } = selecting
  if (selection === null || cell === null || editing.pending(cell)?.state !== 'refused') return null
  if (!isSingle(selection)) return null
  return (
    <Over columns={columns} scroller={scroller} place={selection.focus} firstRow={scroll.rows.first}>
      <RefusedNotice editing={editing} cell={cell} onEdit={() => editor.begin(null)} />
    </Over>
  )
}

interface OverProps {
  readonly scroller: ScrollController
  readonly columns: GridModel['columns']
  readonly place: Place
  /** The first rendered row, from which positions count. */
  readonly firstRow: number
  readonly children: ReactNode
}

/** Covers a cell exactly and scrolls with it. */
function Over({ columns: { layout, rowHeight }, scroller, place, firstRow, children }: OverProps) {
  const element = useRef<HTMLDivElement>(null)
  const column = layout.columns[place.column]
  const { left = 0, width = 0, isPinned = false } = column ?? {}
  useLayoutEffect(() => {
    const move = (): void => {
      if (element.current !== null) element.current.style.left = `${isPinned ? left : left - scroller.left}px`
      // Popovers follow their anchor on scroll events; with a scaled scroll bar, rows may move without one.
      queueMicrotask(() => dispatchEvent(new Event('scroll')))
    }
    move()
    return scroller.onMove(move)
  }, [scroller, left, isPinned])
  return (
    <div
      ref={element}
      role="none"
      className="grid-over"
      style={{ top: (place.row - firstRow) * rowHeight, width }}
    >
      {children}
    </div>
  )
}
