import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import '../ui/form.css'

interface FlagFormProps {
  readonly onFlag: (note: string) => void
  readonly onCancel: () => void
}

/** The form for the reason why a value is flagged. */
export function FlagForm({ onFlag, onCancel }: FlagFormProps) {
  const [note, setNote] = useState('')
  return (
    <form
      className="review-form"
      aria-label="Flag the value"
      onSubmit={(event) => {
        event.preventDefault()
        onFlag(note.trim())
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onCancel()
      }}
    >
      <label className="review-note">
        What is wrong, for others (optional)
        <input
          className="input"
          value={note}
          maxLength={2000}
          autoFocus
          autoComplete="off"
          onChange={({ target }) => setNote(target.value)}
        />
      </label>
      <div className="review-form-actions">
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" type="submit">
          Flag
        </Button>
      </div>
    </form>
  )
}
