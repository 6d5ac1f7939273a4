import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState, type KeyboardEvent, type SubmitEvent } from 'react'
import type { SheetContract } from '../../api/contract.ts'
import { permissionsQuery } from '../../api/queries.ts'
import { useActor } from '../../state/actor.ts'
import { FormError } from '../../ui/form-error.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import '../../ui/form.css'
import { addToUndo } from '../use-editing.ts'
import { createRecord, type CreateErrors } from './create-record.ts'
import { formFields, parseDrafts } from './record-draft.ts'
import { FieldInput } from './field-input.tsx'
import './dialogs.css'

interface NewRecordDialogProps {
  readonly contract: SheetContract
  readonly open: boolean
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

const NO_FAULTS: CreateErrors = { byField: {}, other: null }

/** The form for a new record. Closing it keeps the input. */
export function NewRecordDialog({ contract, open, onClose, onCreated }: NewRecordDialogProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const [drafts, setDrafts] = useState<Readonly<Record<string, string>>>({})
  const [errors, setErrors] = useState(NO_FAULTS)
  const [isSaving, setIsSaving] = useState(false)
  const formId = useId()
  const fields = formFields(contract.fields, new Set(permissions?.write)).map((field) =>
    field.primaryKey ? { ...field, required: false } : field,
  )

  const reset = (): void => {
    setDrafts({})
    setErrors(NO_FAULTS)
  }
  const create = async (): Promise<void> => {
    const parsed = parseDrafts(fields, drafts)
    if ('errors' in parsed) return setErrors({ byField: parsed.errors, other: null })
    setIsSaving(true)
    const shown = new Set(fields.map(({ name }) => name))
    const created = await createRecord(client, parsed.record, { shown, actor })
    setIsSaving(false)
    if (!('id' in created)) return setErrors(created)
    addToUndo({ kind: 'created', ids: [created.id] })
    reset()
    onCreated(created.id)
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    // The page behind the dialog must not handle this key.
    event.stopPropagation()
    if (!isSaving) void create()
  }
  const cancel = (): void => {
    reset()
    onClose()
  }
  return (
    <Dialog
      title="New record"
      open={open}
      onClose={onClose}
      actions={
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Button look="primary" type="submit" form={formId} disabled={isSaving}>
            {isSaving ? 'Creating…' : 'Create'}
          </Button>
        </>
      }
    >
      <form id={formId} className="form" onSubmit={submit} noValidate onKeyDown={submitByKey}>
        <FormError text={errors.other} />
        {fields.map((field, index) => (
          <FieldInput
            key={field.name}
            field={field}
            draft={drafts[field.name] ?? ''}
            onDraft={(draft) => {
              setDrafts((now) => ({ ...now, [field.name]: draft }))
              setErrors(({ byField: { [field.name]: _mended, ...byField }, other }) => ({ byField, other }))
            }}
            error={errors.byField[field.name] ?? null}
            autoFocus={index === 0}
          />
        ))}
      </form>
    </Dialog>
  )
}

/** Submits on Enter, except in a list with one item on each line, and on Ctrl+Enter everywhere. Shift+Enter begins a new line. */
function submitByKey(event: KeyboardEvent<HTMLFormElement>): void {
  // Enter that ends the input of a character, as in Japanese, is not one of the form.
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
  const isText = event.target instanceof HTMLTextAreaElement && event.target.matches('.field-long')
  if (!isText && !event.ctrlKey && !event.metaKey) return
  event.preventDefault()
  event.currentTarget.requestSubmit()
}
