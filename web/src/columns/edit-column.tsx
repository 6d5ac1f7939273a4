import { useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useEffect, useId, useState, type FormEvent } from 'react'
import { ApiError } from '../api/api-error.ts'
import {
  toSheetContract,
  type ContractDocument,
  type SheetContract,
  type SheetField,
} from '../api/contract.ts'
import { derivationFileQuery } from '../api/queries.ts'
import { draftKey } from '../derivations/editor/drafts.ts'
import { madeStale, pendingTargets } from '../derivations/editor/impact-text.ts'
import { keepFresh } from '../derivations/editor/keep-fresh.ts'
import { useFileDraft } from '../derivations/editor/use-file-draft.ts'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { useActor } from '../state/actor.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { countOf } from '../ui/format.ts'
import '../ui/form.css'
import type { GridRows } from '../derivations/preview/preview-rows.ts'
import { lostOptions, withChangedField } from './contract-with.ts'
import { Drawer } from './drawer.tsx'
import { EditComputation, type EditedComputation } from './edit-computation.tsx'
import { draftOf, draftProblem, type FieldDraft } from './field-draft.ts'
import { FieldSettings } from './field-settings.tsx'
import { mergeDraft } from './merge-draft.ts'
import { isReady, PlanStatus } from './plan-status.tsx'
import { RemoveFieldDialog } from './remove-field-dialog.tsx'
import { SettingConflicts } from './setting-conflict.tsx'
import { TypeSelect } from './type-select.tsx'
import { useFieldDraft } from './use-field-draft.ts'
import { usePlan, useSaving } from './use-plan.ts'

export interface EditColumnProps {
  readonly contract: SheetContract
  readonly field: SheetField
  /** Whether the contract no longer has the field; it is then as it was last. */
  readonly isGone: boolean
  readonly gridRows: GridRows
  readonly onClose: () => void
  /** Called after the field was saved, with its name of by then. */
  readonly onSaved: (name: string) => void
  readonly onRemoved: () => void
}

/** The drawer in which a field is changed, for a computed one with its computation. */
export function EditColumn(props: EditColumnProps) {
  const { derived } = props.field
  return derived === null ? (
    <EditDrawer {...props} computation={null} />
  ) : (
    <EditComputed key={derived.derivation} {...props} file={derived.derivation} />
  )
}

function EditComputed({ file, ...props }: EditColumnProps & { readonly file: string }) {
  const draft = useFileDraft(draftKey(props.contract.name, file), file)
  return <EditDrawer {...props} computation={{ file, draft }} />
}

type EditDrawerProps = EditColumnProps & { readonly computation: EditedComputation | null }

/** The ways to save a change of a computation: with no run, with one, or with the present values as fresh ones. */
type SaveMode = 'only' | 'recompute' | 'keep'

function EditDrawer({
  contract,
  field,
  isGone,
  gridRows,
  computation,
  onClose,
  onSaved,
  onRemoved,
}: EditDrawerProps) {
  const form = useId()
  const [actor] = useActor()
  const { before, draft, isChanged, conflict, change, resolve } = useFieldDraft(field)
  const [initial] = useState(before)
  const [losesFor, setLosesFor] = useState<string | null>(null)
  const [isRemoving, setIsRemoving] = useState(false)
  const { name } = before
  const text = computation?.draft.isDirty === true ? computation : null
  const isOutdated = computation?.draft.isOutdated === true
  const others = contract.fields.map((each) => each.name).filter((each) => each !== name)
  const problem = draft.name === '' ? 'A field needs a name.' : draftProblem(draft, others)
  const meanwhile = isGone
    ? `The field ${name} was renamed or removed meanwhile. Close the drawer to go on.`
    : conflict !== null
      ? 'The field was changed meanwhile: choose one of the settings.'
      : isOutdated
        ? `${computation?.file} was changed meanwhile: choose one of the texts.`
        : null
  const isConverted = draft.type !== before.type
  // The values of another type were not agreed to.
  const loses = losesFor === draft.type
  const edited = text === null ? null : [text.file, text.draft.text, text.draft.base?.version]
  const isPlanned = (isChanged || text !== null) && problem === null && meanwhile === null
  const planning = usePlan(
    isPlanned ? JSON.stringify(['edit', name, before, draft, loses, edited]) : null,
    (document) => ({
      document: { ...withChangedField(checked(document, name, { before, draft }), name, { before, draft }) },
      renamed: draft.name === name ? {} : { [name]: draft.name },
      on_invalid: isConverted ? { [draft.name]: loses ? 'null' : 'refuse' } : {},
      ...(text !== null && {
        derivations: { [text.file]: text.draft.text },
        versions: text.draft.base === null ? {} : { [text.file]: text.draft.base.version },
        rename_in_derivations: true,
      }),
    }),
  )
  const { save, isSaving, refused } = useSaving()
  const saved = useSavedFile(text, planning.error, draft.name !== name)
  const canSave = isReady(planning) && !isSaving
  const effect = planning.plan?.effect ?? null
  const lost = effect?.fields.find((each) => each.change === 'converted')?.lost ?? 0
  const options = lostOptions(field.options, before.type, draft.type)
  const targets = text === null || effect === null ? [] : pendingTargets(effect.targets)
  const saveAs = async (mode: SaveMode): Promise<void> => {
    if (!canSave || planning.plan === null) return
    const title = draft.title === '' ? draft.name : draft.title
    const message = draft.name === name ? `Changed ${title}` : `Renamed ${name} to ${draft.name}`
    const isMade = await save(planning.plan, message, {
      onMade: (made) => {
        saved(made.files)
        onSaved(draft.name)
      },
    })
    if (!isMade || text === null) return
    if (mode === 'keep') await keepFresh(text.file, actor)
    if (mode === 'recompute') openRunDialog({ targets }, `${text.file}: compute`)
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void saveAs('only')
  }
  return (
    <Drawer
      title={`Edit ${field.title}`}
      isWide={computation !== null}
      isChanged={isChanged && !isSaving}
      onClose={onClose}
      status={
        <PlanStatus
          problem={meanwhile ?? problem}
          planning={planning}
          isChanged={isPlanned}
          editedFile={text?.file ?? null}
          without="No value changes."
          refused={refused}
        >
          {options.length > 0 && (
            <p className="form-hint">
              {options.join(', ')} {options.length === 1 ? 'does' : 'do'} not apply to the new type, and{' '}
              {options.length === 1 ? 'is' : 'are'} removed.
            </p>
          )}
          {lost > 0 && (
            <div className="form">
              <label className="column-check">
                <input
                  type="checkbox"
                  checked={loses}
                  onChange={(event) => setLosesFor(event.currentTarget.checked ? draft.type : null)}
                />
                <span>
                  <strong>Empty {countOf(lost, 'cell')}</strong> whose{' '}
                  {lost === 1 ? 'value does' : 'values do'} not fit
                </span>
              </label>
            </div>
          )}
        </PlanStatus>
      }
      firstAction={
        computation === null ? (
          <Button look="quiet" className="column-remove" onClick={() => setIsRemoving(true)}>
            Remove field…
          </Button>
        ) : (
          <IconButton label="Remove field…" className="column-remove" onClick={() => setIsRemoving(true)}>
            <Trash2 size={16} />
          </IconButton>
        )
      }
      actions={
        <>
          {text !== null && effect !== null && madeStale(effect.targets) > 0 && (
            <Button
              disabled={!canSave}
              title="For edits that change no value, such as a comment: the present values count as fresh, without any call"
              onClick={() => void saveAs('keep')}
            >
              Save, values still hold
            </Button>
          )}
          {targets.length > 0 && (
            <Button disabled={!canSave} onClick={() => void saveAs('recompute')}>
              Save and recompute…
            </Button>
          )}
          <Button look="primary" type="submit" form={form} disabled={!canSave}>
            {isSaving ? 'Saving…' : 'Save'}
          </Button>
        </>
      }
    >
      {conflict !== null && (
        <SettingConflicts
          field={field.title}
          keys={conflict.keys}
          before={before}
          theirs={conflict.theirs}
          mine={draft}
          onResolve={resolve}
        />
      )}
      <form id={form} className="form" onSubmit={submit}>
        <label>
          Name
          <input
            // The drawer was opened to change the field.
            // oxlint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            value={draft.name}
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
        </label>
        <label>
          Heading
          <input
            value={draft.title}
            autoComplete="off"
            placeholder={draft.name}
            onChange={(event) => change({ title: event.currentTarget.value })}
          />
        </label>
        <TypeSelect value={draft.type} onChange={(type) => change({ type })} />
        <details className="column-more" open={computation === null && hasMore(initial)}>
          <summary>More</summary>
          <div className="form">
            <FieldSettings draft={draft} isDerived={field.derived !== null} onChange={change} />
          </div>
        </details>
      </form>
      {computation !== null && (
        <EditComputation
          contract={contract}
          field={field}
          // The text has the name with which it was opened.
          draft={problem === null && isChanged ? { before, draft: { ...draft, name } } : null}
          computation={computation}
          error={planning.error}
          gridRows={gridRows}
          onSave={() => void saveAs('only')}
        />
      )}
      {isRemoving && (
        <RemoveFieldDialog field={field} onClose={() => setIsRemoving(false)} onRemoved={onRemoved} />
      )}
    </Drawer>
  )
}

/** Returns the contract. Throws where the field in it was changed in a way that the page does not show yet. */
function checked(
  document: ContractDocument,
  name: string,
  { before, draft }: { readonly before: FieldDraft; readonly draft: FieldDraft },
): ContractDocument {
  const present = toSheetContract(document).fieldByName.get(name)
  if (present === undefined || mergeDraft(before, draft, draftOf(present)).conflicts.length > 0)
    throw new Error(`The field ${name} was changed meanwhile.`)
  return document
}

/** Reads a file again when the service has another version of it, and returns what ends its draft once it is saved. */
function useSavedFile(
  text: EditedComputation | null,
  error: Error | null,
  isRenamed: boolean,
): (files: readonly { readonly path: string; readonly after: string | null }[]) => void {
  const client = useQueryClient()
  const file = text?.file ?? null
  const isMismatch = error instanceof ApiError && error.status === 412
  useEffect(() => {
    if (isMismatch && file !== null)
      void client.invalidateQueries({ queryKey: derivationFileQuery(file).queryKey })
  }, [client, file, isMismatch])
  return (files) => {
    if (text === null) return
    const version = files.find(({ path }) => path === `derivations/${text.file}`)?.after
    // With a new name the file has another text.
    if (typeof version === 'string' && !isRenamed)
      client.setQueryData(derivationFileQuery(text.file).queryKey, {
        file: text.file,
        text: text.draft.text,
        version,
      })
    text.draft.saved()
  }
}

/** Whether a field has settings that most fields do not have. */
function hasMore({ description, required, unique, values, editors }: FieldDraft): boolean {
  return description !== '' || required || unique || values !== '' || editors !== 'default'
}
