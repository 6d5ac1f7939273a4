import { Popover } from 'radix-ui'
import { useRef } from 'react'
import type { CellRef } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import '../ui/popover.css'
import type { Editing } from './use-editing.ts'
import './refused-notice.css'

interface RefusedNoticeProps {
  readonly editing: Editing
  readonly cell: CellRef
  /** Opens the editor of the cell with the refused value. */
  readonly onEdit: () => void
}

/**
 * Shows at the selected cell why its edit was refused, with the actions. The focus stays in the grid, where Enter
 * edits the cell again and undo discards the edit.
 */
export function RefusedNotice({ editing, cell, onEdit }: RefusedNoticeProps) {
  const place = useRef<HTMLSpanElement>(null)
  const edit = editing.pending(cell)
  if (edit?.state !== 'refused') return null
  const others = edit.together - 1
  return (
    <Popover.Root open>
      <span ref={place} hidden />
      <Popover.Anchor virtualRef={{ current: { getBoundingClientRect: () => rectOf(place.current) } }} />
      <Popover.Portal>
        <Popover.Content
          className="popover refused-notice"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label="Not saved"
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onEscapeKeyDown={(event) => event.preventDefault()}
          onKeyDown={(event) => event.stopPropagation()}
          onPointerDown={(event) => event.stopPropagation()}
          onMouseDown={(event) => event.stopPropagation()}
          onDoubleClick={(event) => event.stopPropagation()}
        >
          <p role="alert">
            <strong>Not saved.</strong> {edit.message}
          </p>
          {others > 0 && (
            <p className="form-hint">
              {others === 1 ? '1 other cell is' : `${others} other cells are`} saved together with this one.
            </p>
          )}
          <div className="refused-actions">
            <Button onClick={onEdit}>Edit again</Button>
            <Button onClick={() => editing.saveAgain(cell)}>Save again</Button>
            <Button look="quiet" onClick={() => editing.discard(cell)}>
              {others > 0 ? `Discard all ${edit.together}` : 'Discard'}
            </Button>
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function rectOf(place: HTMLElement | null): DOMRect {
  return place?.parentElement?.getBoundingClientRect() ?? new DOMRect()
}
