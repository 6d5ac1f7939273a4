import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useRef, useState, type KeyboardEvent } from 'react'
import { messageOf } from '../../api/api-error.ts'
import type { SheetField } from '../../api/contract.ts'
import { useActor } from '../../state/actor.ts'
import type { CellRef } from '../../state/view-state.ts'
import { FormError } from '../../ui/form-error.tsx'
import { Button } from '../../ui/button.tsx'
import { showSuccess, showError } from '../../ui/toasts.tsx'
import { restoreValue } from './restore-value.ts'
import type { StateAfterUndo, RestoreMethod } from './restore-method.ts'
import { ValueChange } from '../diff/value-change.tsx'

interface RestoreActionProps {
  readonly label: string
  readonly field: SheetField
  readonly cell: CellRef
  readonly how: RestoreMethod
  /** The value to restore. */
  readonly value: unknown
  /** The present value. */
  readonly current: unknown
}

/** Restores a value after confirmation in place. */
export function RestoreAction({ label, field, cell, how, value, current }: RestoreActionProps) {
  const [isAsking, setIsAsking] = useState(false)
  const [actor] = useActor()
  const client = useQueryClient()
  const opener = useRef<HTMLButtonElement>(null)
  const question = useRef<HTMLDivElement>(null)
  const change = useMutation({
    mutationFn: () => restoreValue({ cell, how, value, seen: current, actor }),
    onSuccess: () => {
      // The button disappears; the focus stays in the panel.
      question.current?.closest<HTMLElement>('[role=tabpanel]')?.focus({ preventScroll: true })
      setIsAsking(false)
      showSuccess(`${field.title} of ${cell.recordId} restored`)
    },
    onSettled: async (_done, error) => {
      // Also after an error: the data shown may be outdated.
      await client.invalidateQueries({ queryKey: ['records'] })
      // The action may have disappeared by then, so the error is shown as a toast.
      if (error !== null) requestAnimationFrame(() => question.current === null && showError(error))
    },
  })
  const cancel = (): void => {
    setIsAsking(false)
    change.reset()
    // The button is rendered again after this.
    requestAnimationFrame(() => opener.current?.focus())
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    cancel()
  }
  if (!isAsking) {
    return (
      <button ref={opener} type="button" className="restore-value" onClick={() => setIsAsking(true)}>
        <Undo2 size={13} aria-hidden="true" /> {label}
      </button>
    )
  }
  return (
    <div
      ref={question}
      className="restore-value-question"
      role="group"
      aria-label={label}
      onKeyDown={onKeyDown}
    >
      <ValueChange type={field.type} was={current} is={value} />
      <p className="panel-faint">{consequence(field, how)}</p>
      <FormError text={change.error === null ? null : messageOf(change.error)} />
      <div className="restore-value-buttons">
        <Button look="primary" autoFocus disabled={change.isPending} onClick={() => change.mutate()}>
          {how.by === 'undo' ? 'Revert change' : 'Write value'}
        </Button>
        <Button look="quiet" disabled={change.isPending} onClick={cancel}>
          Cancel
        </Button>
      </div>
    </div>
  )
}

/** Describes the effect on the cell and the log. */
function consequence(field: SheetField, how: RestoreMethod): string {
  if (how.by === 'undo') {
    const state = field.derived === null ? '' : ` ${STATE_AFTER_UNDO[how.leaves]}`
    return `Reverts the latest change.${state} The revert is logged and can itself be reverted.`
  }
  const anew = 'The cell has changed since, so the value is written as a new change under your name.'
  return field.derived === null ? anew : `${anew} The cell becomes overridden: runs skip it.`
}

const STATE_AFTER_UNDO: Readonly<Record<StateAfterUndo, string>> = {
  missing: 'The cell becomes missing: the next run computes it.',
  overridden: 'The cell becomes overridden: runs skip it.',
  computed:
    'The cell becomes stale, unless it is fresh now and this value was computed from the same inputs. The next run computes it if needed.',
}
