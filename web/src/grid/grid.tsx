import {
  lazy,
  Suspense,
  useLayoutEffect,
  useState,
  type CSSProperties,
  type FocusEvent,
  type MouseEvent,
} from 'react'
import { retryCell } from '../runs/dialogs/retry-cell.ts'
import { useActor } from '../state/actor.ts'
import { NORMAL_HEIGHT } from '../state/columns.ts'
import { showError } from '../ui/toasts.tsx'
import { cellId } from './selection/cell-id.ts'
import { HEAD_ROW, type CellRange, type Place } from './selection/cell-range.ts'
import { OpenMenu } from './menus/open-menu.tsx'
import { useContextMenu } from './menus/use-context-menu.ts'
import { GridBody } from './grid-body.tsx'
import { GridHead } from './columns/grid-head.tsx'
import { isSortable } from './columns/column-head-props.ts'
import './grid.css'
import { GridOverlay } from './grid-overlay.tsx'
import { spacerHeight } from './layout/scroll-scale.ts'
import { cycleSort, formatSort, parseSort } from '../state/sort-order.ts'
import { GridInput, IS_TOUCH } from './interaction/grid-input.tsx'
import { useClipboard } from './interaction/use-clipboard.ts'
import type { Paste } from './interaction/paste-cells.ts'
import type { Editor } from './interaction/use-editor.ts'
import type { GridModel } from './interaction/use-grid.ts'
import { useGridKeys } from './interaction/use-grid-keys.ts'
import { useLatest } from '../ui/use-latest.ts'
import { useScrollTransforms } from './layout/use-scroll-transforms.ts'
import { usePointer } from './interaction/use-pointer.ts'

const PasteDialog = lazy(() => import('./paste-dialog.tsx'))

interface GridProps {
  readonly model: GridModel
  readonly editor: Editor
  readonly onGoToRecord: () => void
  /** Adds a record. */
  readonly onAdd: () => void
  /** Asks whether to delete records. */
  readonly onDelete: (ids: readonly string[]) => void
}

const GRID_ID = 'grid'
const DESCRIPTION =
  'Arrow keys move between cells, Enter edits, Shift+Enter adds a record, Shift+F10 opens the menu, Space shows the provenance of a value or ticks a checkbox, Ctrl+D fills down, Ctrl+Space selects the column, Escape and then Tab leave the table. In column heads, Enter sorts, Space opens the menu, and F2 moves into the summary.'

/** The scrolling table. An element beside it has the keyboard focus for all of its cells. */
export function Grid({ model, editor, onGoToRecord, onDelete, onAdd }: GridProps) {
  const { contract, view, change, scroller, scroll, columns, rows, selecting, checked } = model
  const [element, setElement] = useState<HTMLElement | null>(null)
  const [layer, setLayer] = useState<HTMLElement | null>(null)
  const [openMenu, setOpenMenu] = useState<string | null>(null)
  const [actor] = useActor()
  useLayoutEffect(() => (element === null ? undefined : scroller.attach(element)), [element, scroller])

  const { layout, headHeight, rowHeight } = columns
  useScrollTransforms(layer, scroller, scroll, layout)
  const count = rows.count ?? 0
  const focus = selecting.selection?.focus ?? null
  const isPast = view.asOf !== null
  const sortBy = (column: number, add: boolean): void => {
    const field = layout.columns[column]?.field
    if (field !== undefined && isSortable(field))
      change({ sort: formatSort(cycleSort(parseSort(view.sort), field.name, add)) })
  }
  const openHead = (column: number): void => setOpenMenu(layout.columns[column]?.field.name ?? null)
  const menu = useContextMenu(model, openHead)
  const host = useLatest({ model, openMenu: setOpenMenu, sortBy })
  const onKeyDown = useGridKeys({
    model,
    editor,
    openMenu: openHead,
    sortBy,
    openContextMenu: menu.openHere,
    goToRecord: onGoToRecord,
    addRecord: onAdd,
  })
  const pointer = usePointer(model, {
    check: checked.toggle,
    edit: () => editor.begin(null),
    panel: () => change({ panel: true, cell: selecting.cell ?? view.cell }),
    retry: () => {
      if (selecting.cell !== null) retryCell(selecting.cell, actor).catch(showError)
    },
  })
  const [paste, setPaste] = useState<Paste | null>(null)
  const selectPasted = ({ top, left, bottom, right }: CellRange): void => {
    if (count === 0) return
    selecting.selectQuietly({ focus: { row: top, column: left }, end: { row: bottom, column: right } })
  }
  const clipboard = useClipboard(model, { preview: setPaste, onPasted: selectPasted })
  const label = `Records of ${contract.name}`
  const activeId = focus !== null && isDrawn(focus, model) ? cellId(focus) : undefined
  return (
    <>
      {!IS_TOUCH && (
        <GridInput
          editor={editor}
          label={label}
          description={DESCRIPTION}
          gridId={GRID_ID}
          activeId={activeId}
          onKeyDown={onKeyDown}
          {...clipboard.handlers}
        />
      )}
      <div
        ref={setElement}
        id={GRID_ID}
        style={{ '--row': `${rowHeight}px` } as CSSProperties}
        className={[
          'grid',
          rowHeight > NORMAL_HEIGHT && 'tall',
          focus !== null && 'has-selection',
          rows.count === null && 'loading',
          isPast && 'past',
        ]
          .filter(Boolean)
          .join(' ')}
        role="grid"
        tabIndex={IS_TOUCH ? 0 : -1}
        aria-label={label}
        aria-description={DESCRIPTION}
        aria-rowcount={rows.count === null ? -1 : count + 1}
        aria-colcount={layout.columns.length + 1}
        aria-multiselectable="true"
        aria-activedescendant={activeId}
        aria-busy={rows.count === null || rows.isWaiting || rows.isReading}
        onFocus={passFocusOn}
        onKeyDown={onKeyDown}
        onMouseDown={keepFocus}
        {...pointer}
        {...clipboard.handlers}
        onContextMenu={menu.onContextMenu}
      >
        <div
          role="none"
          className="grid-spacer"
          style={{
            height: headHeight + spacerHeight({ content: count * rowHeight, viewport: 0 }),
            width: layout.width,
          }}
        >
          <div
            role="none"
            ref={setLayer}
            className="grid-layer"
            style={{ width: scroll.width, height: scroll.height }}
          >
            <GridHead
              host={host}
              columns={columns}
              firstColumn={scroll.columns.first}
              endColumn={scroll.columns.end}
              sort={rows.selection.sort}
              filter={rows.selection.filter}
              isReady={rows.count !== null}
              isPast={isPast}
              mayWrite={model.editing.mayWrite}
              checkedState={checked.ids.size === 0 ? 'none' : checked.ids.size < count ? 'some' : 'all'}
              activeColumn={focus?.row === HEAD_ROW ? focus.column : -1}
              openMenu={openMenu}
              ghost={model.drawer.ghost}
              mayAdd={model.drawer.mayChange}
            />
            {layout.pinned.length > 0 && (
              <div role="none" className="grid-pinned-edge" style={{ left: layout.pinnedEnd }} />
            )}
            <GridBody model={model}>
              <GridOverlay model={model} editor={editor} />
            </GridBody>
          </div>
        </div>
        {menu.asked !== null && (
          <OpenMenu
            asked={menu.asked}
            model={model}
            editor={editor}
            onClose={menu.close}
            onPaste={clipboard.pasteText}
            onDelete={onDelete}
            onAdd={onAdd}
          />
        )}
        {paste !== null && (
          <Suspense>
            <PasteDialog
              context={model.context}
              paste={paste}
              onClose={() => setPaste(null)}
              onPasted={selectPasted}
              onGone={() => element?.focus({ preventScroll: true })}
            />
          </Suspense>
        )}
      </div>
    </>
  )
}

/** Whether a cell has an element; only cells near the view have. */
function isDrawn({ row, column }: Place, { scroll, columns: { layout } }: GridModel): boolean {
  const isRow = row === HEAD_ROW || (row >= scroll.rows.first && row < scroll.rows.end)
  const place = column - layout.pinned.length
  return isRow && (place < 0 || (place >= scroll.columns.first && place < scroll.columns.end))
}

/** Gives the focus of the grid to the element that takes its keys. */
function passFocusOn({ target, currentTarget }: FocusEvent<HTMLElement>): void {
  if (target !== currentTarget || IS_TOUCH) return
  currentTarget.parentElement
    ?.querySelector<HTMLElement>('.grid-input textarea')
    ?.focus({ preventScroll: true })
}

/** Keeps the keyboard focus on the grid when a head or row is pressed. */
function keepFocus(event: MouseEvent<HTMLElement>): void {
  const { target, currentTarget } = event
  if (!(target instanceof Element) || !currentTarget.contains(target)) return
  if (target.closest('.column-name, .column-sort, .grid-gutter, .grid-cell-button') === null) return
  event.preventDefault()
  currentTarget.focus({ preventScroll: true })
}
