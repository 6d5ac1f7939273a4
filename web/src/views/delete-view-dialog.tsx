import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { SavedView } from '../state/saved-view.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormError } from '../ui/form-error.tsx'

interface DeleteViewDialogProps {
  readonly view: SavedView
  readonly onClose: () => void
  /** Deletes the view; throws ApiError. */
  readonly onDelete: () => Promise<void>
}

/** Asks whether a view is deleted. */
export function DeleteViewDialog({ view, onClose, onDelete }: DeleteViewDialogProps) {
  const [error, setError] = useState<string | null>(null)
  const remove = async (): Promise<void> => {
    try {
      await onDelete()
      onClose()
    } catch (thrown) {
      setError(messageOf(thrown))
    }
  }
  return (
    <Dialog
      title={`Delete the view ${view.name}?`}
      description="The view is deleted for everyone. No record is changed."
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" onClick={() => void remove()}>
            Delete
          </Button>
        </>
      }
    >
      <FormError text={error} />
    </Dialog>
  )
}
