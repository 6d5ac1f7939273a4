import { useState } from 'react'
import type { SheetField } from '../api/contract.ts'
import { FieldInput } from '../editing/records/field-input.tsx'
import { hasLines, parseDraft } from '../editing/records/record-draft.ts'
import { Button } from '../ui/button.tsx'
import { copyText } from '../values/value-text.ts'

interface CorrectFormProps {
  readonly field: SheetField
  readonly value: unknown
  readonly onSave: (value: unknown) => void
  readonly onCancel: () => void
}

/** The form for another value of the cell under review. */
export function CorrectForm({ field, value, onSave, onCancel }: CorrectFormProps) {
  const [draft, setDraft] = useState(() => draftOf(field, value))
  const [error, setError] = useState<string | null>(null)
  return (
    <form
      className="review-form"
      aria-label="Correct the value"
      onSubmit={(event) => {
        event.preventDefault()
        const parsed = parseDraft(field, draft)
        if ('error' in parsed) setError(parsed.error)
        else onSave(parsed.value)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onCancel()
      }}
    >
      <FieldInput field={field} draft={draft} onDraft={setDraft} error={error} autoFocus />
      <div className="review-form-actions">
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" type="submit">
          Save
        </Button>
      </div>
    </form>
  )
}

function draftOf(field: SheetField, value: unknown): string {
  if (hasLines(field) && Array.isArray(value)) return value.map(String).join('\n')
  if (typeof value === 'boolean') return String(value)
  return copyText(value) ?? ''
}
