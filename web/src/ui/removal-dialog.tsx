import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { FormError } from './form-error.tsx'

interface RemovalDialogProps {
  /** The name of what is removed. */
  readonly name: string
  /** The label of the button that removes it. */
  readonly action: string
  /** The effect of the removal; null until it is known. */
  readonly effect: ReactNode
  /** Whether the effect is that on the present state, so that it may be removed. */
  readonly isReady: boolean
  /** The reason why it cannot be removed; null for none. */
  readonly error: string | null
  readonly onRemove: () => void
  readonly onClose: () => void
}

/** Asks whether something is removed, with the effect of that. */
export function RemovalDialog(props: RemovalDialogProps) {
  const { name, action, effect, isReady, error, onRemove, onClose } = props
  return (
    <Dialog
      title={`Remove ${name}?`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" disabled={!isReady} onClick={onRemove}>
            {action}
          </Button>
        </>
      }
    >
      <div role="status" aria-busy={effect === null && error === null}>
        {effect ?? (error === null && <p className="form-hint">Checking…</p>)}
      </div>
      <FormError text={error} />
    </Dialog>
  )
}
