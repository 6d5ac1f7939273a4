import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import type { SheetContract } from '../../api/contract.ts'
import { recordNamesQuery } from './record-names-query.ts'
import { nameField } from '../../values/name-field.ts'
import { useActor } from '../../state/actor.ts'
import { FormError } from '../../ui/form-error.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import '../../ui/form.css'
import { showSuccess } from '../../ui/toasts.tsx'
import { countOf, formatCount } from '../../ui/format.ts'
import './dialogs.css'
import { restoreRecords } from './restore-records.ts'
import { deleteAll } from '../change-records.ts'
import { addToUndo } from '../use-editing.ts'

interface DeleteRecordsDialogProps {
  readonly contract: SheetContract
  readonly ids: readonly string[]
  readonly open: boolean
  readonly onClose: () => void
  readonly onDeleted: () => void
}

/** The number of records that the dialog names. */
const NAMED = 5

/** Confirms and deletes records. */
export function DeleteRecordsDialog({ contract, ids, open, onClose, onDeleted }: DeleteRecordsDialogProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [isDeleting, setIsDeleting] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const named = ids.slice(0, NAMED)
  const field = nameField(contract.fields)
  const { data: names } = useQuery({
    ...recordNamesQuery(named, field?.name ?? 'id'),
    enabled: open && field !== null,
  })
  const what = countOf(ids.length, 'record')

  const close = (): void => {
    if (isDeleting) return
    setError(null)
    onClose()
  }
  const remove = async (): Promise<void> => {
    setIsDeleting(true)
    setError(null)
    let deleted = 0
    const gone: string[] = []
    try {
      await deleteAll(ids, actor, (part, count) => {
        deleted = count
        gone.push(...part)
      })
      showSuccess(`${countOf(deleted, 'record')} deleted`, {
        name: 'Undo',
        run: () => void restoreRecords(client, { ids: gone, actor }),
      })
      onDeleted()
    } catch (thrown) {
      setError(
        deleted > 0
          ? `${countOf(deleted, 'record')} of ${ids.length} deleted, then: ${messageOf(thrown)}`
          : messageOf(thrown),
      )
    } finally {
      if (gone.length > 0) addToUndo({ kind: 'deleted', ids: gone })
      setIsDeleting(false)
      void client.invalidateQueries({ queryKey: ['records'] })
    }
  }
  return (
    <Dialog
      title={`Delete ${what}?`}
      open={open}
      onClose={close}
      actions={
        <>
          <Button onClick={close} disabled={isDeleting} autoFocus>
            Cancel
          </Button>
          <Button look="danger" onClick={() => void remove()} disabled={isDeleting || ids.length === 0}>
            {isDeleting ? 'Deleting…' : `Delete ${what}`}
          </Button>
        </>
      }
    >
      <ul className="delete-names">
        {named.map((id) => (
          <li key={id}>
            {id}
            {names?.get(id) !== undefined && <span className="delete-name">{names.get(id)}</span>}
          </li>
        ))}
        {ids.length > NAMED && <li className="more">and {formatCount(ids.length - NAMED)} more</li>}
      </ul>
      <p className="delete-meaning">
        The provenance log keeps the values and their history, so you can restore{' '}
        {ids.length === 1 ? 'it' : 'them'} later.
      </p>
      <FormError text={error} />
    </Dialog>
  )
}
