import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormError } from '../ui/form-error.tsx'
import '../ui/form.css'

interface NameDialogProps {
  readonly title: string
  readonly description: string
  readonly name: string
  readonly onClose: () => void
  /** Saves the name; throws ApiError. */
  readonly onName: (name: string) => Promise<void>
}

const FORM = 'name'

/** Asks for the name under which something is kept in the sheet. */
export function NameDialog({ title, description, name, onClose, onName }: NameDialogProps) {
  const [error, setError] = useState<string | null>(null)
  const [isSaving, setIsSaving] = useState(false)
  const submit = async (wanted: string): Promise<void> => {
    setIsSaving(true)
    try {
      await onName(wanted)
      onClose()
    } catch (thrown) {
      setError(messageOf(thrown))
      setIsSaving(false)
    }
  }
  return (
    <Dialog
      title={title}
      description={description}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={FORM} disabled={isSaving}>
            Save
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          const wanted = new FormData(event.currentTarget).get('name')
          if (typeof wanted === 'string' && wanted.trim() !== '') void submit(wanted.trim())
        }}
      >
        <label>
          Name
          <input name="name" defaultValue={name} maxLength={100} required autoFocus autoComplete="off" />
        </label>
        <FormError text={error} />
      </form>
    </Dialog>
  )
}
