import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useRef, useState, type KeyboardEvent } from 'react'
import { messageOf } from '../../api/api-error.ts'
import type { SheetField } from '../../api/contract.ts'
import { useActor } from '../../state/actor.ts'
import type { CellRef } from '../../state/view-state.ts'
import { FormFault } from '../../ui/form-fault.tsx'
import { Button } from '../../ui/button.tsx'
import { tellDone, tellError } from '../../ui/toasts.tsx'
import { putBackValue } from './put-back-value.ts'
import type { Leaves, WayBack } from './put-back.ts'
import { ValueChange } from '../diff/value-change.tsx'

interface PutBackActionProps {
  readonly label: string
  readonly field: SheetField
  readonly cell: CellRef
  readonly how: WayBack
  /** The value to restore. */
  readonly value: unknown
  /** The present value. */
  readonly current: unknown
}

/** Restores a value after confirmation in place. */
export function PutBackAction({ label, field, cell, how, value, current }: PutBackActionProps) {
  const [isAsking, setIsAsking] = useState(false)
  const [actor] = useActor()
  const client = useQueryClient()
  const opener = useRef<HTMLButtonElement>(null)
  const question = useRef<HTMLDivElement>(null)
  const change = useMutation({
    mutationFn: () => putBackValue({ cell, how, value, seen: current, actor }),
    onSuccess: () => {
      // The button disappears; the focus stays in the panel.
      question.current?.closest<HTMLElement>('[role=tabpanel]')?.focus({ preventScroll: true })
      setIsAsking(false)
      tellDone(`${field.title} of ${cell.recordId} restored`)
    },
    onSettled: async (_done, error) => {
      // Also after an error: the data shown may be outdated.
      await client.invalidateQueries({ queryKey: ['records'] })
      // The action may have disappeared by then, so the error is shown as a toast.
      if (error !== null) requestAnimationFrame(() => question.current === null && tellError(error))
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
      <button ref={opener} type="button" className="put-back" onClick={() => setIsAsking(true)}>
        <Undo2 size={13} aria-hidden="true" /> {label}
      </button>
    )
  }
  return (
    <div ref={question} className="put-back-question" role="group" aria-label={label} onKeyDown={onKeyDown}>
      <ValueChange type={field.type} was={current} is={value} />
      <p className="panel-faint">{consequence(field, how)}</p>
      <FormFault text={change.error === null ? null : messageOf(change.error)} />
      <div className="put-back-buttons">
        <Button look="primary" autoFocus disabled={change.isPending} onClick={() => change.mutate()}>
          {how.by === 'undo' ? 'Undo change' : 'Write value'}
        </Button>
        <Button look="quiet" disabled={change.isPending} onClick={cancel}>
          Cancel
        </Button>
      </div>
    </div>
  )
}

/** Describes the effect on the cell and the log. */
function consequence(field: SheetField, how: WayBack): string {
  if (how.by === 'undo') {
    const state = field.derived === null ? '' : ` ${LEAVES[how.leaves]}`
    return `Undoes the latest change.${state} The undo is logged and can itself be undone.`
  }
  const anew = 'The cell has changed since, so the value is written as a new change under your name.'
  return field.derived === null ? anew : `${anew} The cell becomes overridden: runs skip it.`
}

const LEAVES: Readonly<Record<Leaves, string>> = {
  missing: 'The cell becomes missing: the next run computes it.',
  overridden: 'The cell becomes overridden: runs skip it.',
  computed:
    'The cell becomes stale, unless it is fresh now and this value was computed from the same inputs. The next run computes it if needed.',
}
