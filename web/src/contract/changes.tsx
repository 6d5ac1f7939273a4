import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { HistoryAnswer } from '../../../src/wire/definition/change.ts'
import { messageOf } from '../api/api-error.ts'
import { definitionChangeQuery, definitionHistoryQuery, permissionsQuery } from '../api/queries.ts'
import { server } from '../api/server.ts'
import { lostValues } from '../columns/plan-text.ts'
import { PlanView } from '../columns/plan-view.tsx'
import { ChangeSentences } from '../derivations/editor/change-impact.tsx'
import { planText } from '../columns/plan-text.ts'
import { LineDiff } from '../provenance/diff/diff-view.tsx'
import { useActor } from '../state/actor.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Moment } from '../ui/moment.tsx'
import { showSuccess } from '../ui/toasts.tsx'
import './changes.css'

type Change = HistoryAnswer['changes'][number]

/** The changes of the contract and the derivations, newest first; the newest can be taken back. */
export function Changes() {
  const { data, error } = useQuery(definitionHistoryQuery)
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const [undone, setUndone] = useState<string | null>(null)
  if (error !== null) return <FormError text={messageOf(error)} />
  if (data === undefined) return <p className="contract-hint">Reading…</p>
  if (data.changes.length === 0)
    return (
      <p className="contract-hint">
        Neither the contract nor a derivation was changed since the sheet was made.
      </p>
    )
  const mayChange = permissions !== undefined && permissions.read_only_definition !== true
  return (
    <>
      <ul className="definition-changes">
        {data.changes.map((change, index) => (
          <li key={change.id}>
            <ChangeView
              change={change}
              onUndo={index === 0 && mayChange ? () => setUndone(change.id) : null}
            />
          </li>
        ))}
      </ul>
      {undone !== null && <UndoDialog id={undone} onClose={() => setUndone(null)} />}
    </>
  )
}

function ChangeView({ change, onUndo }: { readonly change: Change; readonly onUndo: (() => void) | null }) {
  const { id, at, actor, note, reverts, files } = change
  const [isOpen, setIsOpen] = useState(false)
  const names = files.map(({ path }) => path.replace('derivations/', '')).join(', ')
  return (
    <>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>
          {names} <Moment at={at} /> {actor === null ? 'in the files' : <>by {actor}</>}
          {reverts !== null && `, takes back change ${reverts}`}
          {note !== null && <span className="form-hint">{note}</span>}
        </summary>
        {isOpen && <ChangeDetail id={id} />}
      </details>
      {onUndo !== null && <Button onClick={onUndo}>Undo…</Button>}
    </>
  )
}

function ChangeDetail({ id }: { readonly id: string }) {
  const { data, error } = useQuery(definitionChangeQuery(id))
  if (error !== null) return <FormError text={messageOf(error)} />
  if (data === undefined) return <p className="form-hint">Reading…</p>
  const { files, effect } = data
  return (
    <>
      {effect !== null && effect.fields.length > 0 && (
        <ChangeSentences sentences={planText({ fields: effect.fields, files: [] })} />
      )}
      {files.map(({ path, before, after, text_before: textBefore, text_after: textAfter }) => (
        <section key={path} aria-label={path}>
          <h2>{path}</h2>
          {(textBefore === null && before !== null) || (textAfter === null && after !== null) ? (
            <p className="form-hint">The text is no longer kept.</p>
          ) : (
            <LineDiff was={textBefore ?? ''} is={textAfter ?? ''} />
          )}
        </section>
      ))}
    </>
  )
}

/** Shows the effect of taking back a change, and takes it back. */
function UndoDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [isUndoing, setIsUndoing] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const { data: effect, error } = useQuery({
    queryKey: ['contract', 'undo', id, actor],
    queryFn: ({ signal }) => server.definition.revert(id, {}, { dryRun: true, actor, signal }),
    enabled: !isUndoing,
    gcTime: 0,
    retry: false,
  })
  const undo = async (): Promise<void> => {
    if (effect === undefined) return
    setIsUndoing(true)
    setRefused(null)
    try {
      // The number of values that the person agrees to lose is that of the effect.
      await server.definition.revert(id, lostValues(effect), { actor })
      showSuccess('The change was taken back')
      onClose()
    } catch (thrown) {
      setRefused(messageOf(thrown))
      setIsUndoing(false)
    } finally {
      void client.invalidateQueries({ queryKey: ['contract'] })
      void client.invalidateQueries({ queryKey: ['records'] })
    }
  }
  return (
    <Dialog
      title="Undo this change?"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={effect === undefined || isUndoing} onClick={() => void undo()}>
            Undo
          </Button>
        </>
      }
    >
      <div role="status" aria-busy={effect === undefined && error === null}>
        {effect === undefined && error === null && <p className="form-hint">Checking…</p>}
        {effect !== undefined && <PlanView effect={effect} without="No value changes." />}
      </div>
      <FormError text={refused ?? (error === null ? null : messageOf(error))} />
    </Dialog>
  )
}
