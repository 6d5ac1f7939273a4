import { useId, useState, type FormEvent } from 'react'
import { Link } from 'wouter'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { Button } from '../ui/button.tsx'
import { countOf } from '../ui/format.ts'
import '../ui/form.css'
import { lostOptions, withChangedField } from './contract-with.ts'
import { Drawer } from './drawer.tsx'
import { draftOf, draftProblem, type FieldDraft } from './field-draft.ts'
import { FieldSettings } from './field-settings.tsx'
import { isReady, PlanStatus } from './plan-status.tsx'
import { RemoveFieldDialog } from './remove-field-dialog.tsx'
import { TypeSelect } from './type-select.tsx'
import { usePlan, useSaving } from './use-plan.ts'

interface EditColumnProps {
  readonly contract: SheetContract
  readonly field: SheetField
  readonly onClose: () => void
  /** Called after the field was saved, with its name of by then. */
  readonly onSaved: (name: string) => void
  readonly onRemoved: () => void
}

/** The drawer in which the settings of a field are changed, with the effect before it is saved. */
export function EditColumn({ contract, field, onClose, onSaved, onRemoved }: EditColumnProps) {
  const form = useId()
  // As it was when the drawer was opened: only what is changed here is written.
  const [before] = useState(() => draftOf(field))
  const [draft, setDraft] = useState(before)
  const [losesFor, setLosesFor] = useState<string | null>(null)
  const [isRemoving, setIsRemoving] = useState(false)
  const { name } = before
  const isChanged = (Object.keys(draft) as (keyof FieldDraft)[]).some((key) => draft[key] !== before[key])
  const others = contract.fields.map((each) => each.name).filter((each) => each !== name)
  const problem = draft.name === '' ? 'A field needs a name.' : draftProblem(draft, others)
  const isConverted = draft.type !== before.type
  // The values of another type were not agreed to.
  const loses = losesFor === draft.type
  const key = isChanged && problem === null ? JSON.stringify(['edit', name, before, draft, loses]) : null
  const planning = usePlan(key, (document) => ({
    document: { ...withChangedField(document, name, { before, draft }) },
    renamed: draft.name === name ? {} : { [name]: draft.name },
    on_invalid: isConverted ? { [draft.name]: loses ? 'null' : 'refuse' } : {},
  }))
  const { save, isSaving, refused } = useSaving()
  const canSave = isReady(planning) && !isSaving
  const lost = planning.plan?.effect.fields.find((each) => each.change === 'converted')?.lost ?? 0
  const options = lostOptions(field.options, before.type, draft.type)
  const change = (wanted: Partial<FieldDraft>): void => setDraft({ ...draft, ...wanted })
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!canSave || planning.plan === null) return
    const text =
      draft.name === name
        ? `Changed ${draft.title === '' ? name : draft.title}`
        : `Renamed ${name} to ${draft.name}`
    await save(planning.plan, text, { onMade: () => onSaved(draft.name) })
  }
  return (
    <Drawer
      title={`Edit ${field.title}`}
      isChanged={isChanged && !isSaving}
      onClose={onClose}
      status={
        <PlanStatus
          problem={problem}
          planning={planning}
          isChanged={isChanged}
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
        <Button look="quiet" className="column-remove" onClick={() => setIsRemoving(true)}>
          Remove field…
        </Button>
      }
      actions={
        <Button look="primary" type="submit" form={form} disabled={!canSave}>
          {isSaving ? 'Saving…' : 'Save'}
        </Button>
      }
    >
      {field.derived !== null && (
        <p className="form-hint">
          Computed by{' '}
          <Link href={`/derivations?file=${encodeURIComponent(field.derived.derivation)}&edit=1`}>
            {field.derived.derivation}
          </Link>
          .
        </p>
      )}
      <form id={form} className="form" onSubmit={(event) => void submit(event)}>
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
        <details className="column-more" open={hasMore(before)}>
          <summary>More</summary>
          <div className="form">
            <FieldSettings draft={draft} isDerived={field.derived !== null} onChange={change} />
          </div>
        </details>
      </form>
      {isRemoving && (
        <RemoveFieldDialog field={field} onClose={() => setIsRemoving(false)} onRemoved={onRemoved} />
      )}
    </Drawer>
  )
}

/** Whether a field has settings that most fields do not have. */
function hasMore({ description, required, unique, values, editors }: FieldDraft): boolean {
  return description !== '' || required || unique || values !== '' || editors !== 'default'
}
