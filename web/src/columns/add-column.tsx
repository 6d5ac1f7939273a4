import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useMemo, useState, type FormEvent } from 'react'
import type { PreviewAnswer } from '../../../src/wire/definition/preview.ts'
import type { SheetContract } from '../api/contract.ts'
import { isOfType } from '../api/is-of-type.ts'
import { derivationsQuery } from '../api/queries.ts'
import type { KindTemplate } from '../derivations/forms/templates.ts'
import { doubtText } from '../derivations/preview/preview-text.ts'
import type { GridRows } from '../derivations/preview/preview-rows.ts'
import { RunButtons, type RunLimit } from '../derivations/preview/run-buttons.tsx'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { Button } from '../ui/button.tsx'
import '../ui/form.css'
import { AnotherColumn } from './another-column.tsx'
import {
  cellsOf,
  contractTextOf,
  contractWith,
  firstText,
  newFileFor,
  targetsOf,
  withFields,
  withTargets,
} from './computed-draft.ts'
import { ComputedPart } from './computed-part.tsx'
import type { FieldPlace } from './contract-with.ts'
import { Drawer } from './drawer.tsx'
import {
  draftProblem,
  EMPTY_DRAFT,
  guessType,
  nameOfHeading,
  typeOfValue,
  type FieldDraft,
} from './field-draft.ts'
import { FieldSettings } from './field-settings.tsx'
import type { Ghost } from './ghost.ts'
import { KindCards } from './kind-cards.tsx'
import { NewColumns } from './new-columns.tsx'
import { isReady, PlanStatus } from './plan-status.tsx'
import { TypeSelect } from './type-select.tsx'
import { useFault } from './use-fault.ts'
import { usePlan, useSaving } from './use-plan.ts'

interface AddColumnProps {
  readonly contract: SheetContract
  readonly place: FieldPlace
  readonly gridRows: GridRows
  readonly onGhost: (ghost: Ghost) => void
  readonly onClose: () => void
  /** Called with the name of the new field, and what is to be done once the grid shows it. */
  readonly onAdded: (name: string, next: () => void) => void
}

/** The computation of a new column. */
interface Computation {
  readonly template: KindTemplate
  /** The name of the column for which the text was begun. */
  readonly name: string
  readonly file: string
  readonly text: string
}

/** The drawer in which a column is named, typed, for a computed one configured and tried, and added. */
export function AddColumn({ contract, place, gridRows, onGhost, onClose, onAdded }: AddColumnProps) {
  const form = useId()
  const [heading, setHeading] = useState('')
  const [settings, setSettings] = useState<Partial<FieldDraft>>({})
  const [template, setTemplate] = useState<KindTemplate | null>(null)
  const [isConfiguring, setIsConfiguring] = useState(false)
  const [begun, setBegun] = useState<Computation | null>(null)
  const [others, setOthers] = useState<readonly FieldDraft[]>([])
  const [answer, setAnswer] = useState<PreviewAnswer | null>(null)
  const { data } = useQuery(derivationsQuery)
  const name = nameOfHeading(heading) || (heading.trim() === '' ? '' : `column_${contract.fields.length + 1}`)
  const title = heading.trim() === name ? '' : heading.trim()
  const draft = useMemo(
    (): FieldDraft => ({ ...EMPTY_DRAFT, type: guessType(name), ...settings, name, title }),
    [settings, name, title],
  )
  const problem = draftProblem(
    draft,
    contract.fields.map((field) => field.name),
  )
  const computation = isConfiguring && begun?.template === template ? begun : null
  const all = useMemo(() => [draft, ...others], [draft, others])
  const drafts = useMemo(() => {
    const targets = computation === null ? [] : targetsOf(computation.text)
    return all.filter((each, index) => index === 0 || targets.includes(each.name))
  }, [all, computation])
  const isPlanned = name !== '' && problem === null && (template === null || computation !== null)
  const key = isPlanned
    ? JSON.stringify(['add', drafts, place, computation?.file ?? null, computation?.text ?? null])
    : null
  const planning = usePlan(key, (document) => ({
    document: { ...withFields(document, drafts, place) },
    ...(computation !== null && { derivations: { [computation.file]: computation.text } }),
  }))
  const { save, isSaving, refused } = useSaving()
  const canAdd = isReady(planning) && !isSaving
  const isChanged = heading !== '' || template !== null || Object.keys(settings).length > 0
  const canContinue = name !== '' && problem === null
  useGhost(drafts, { place, heading, answer }, onGhost)

  const change = (changed: string, wanted: Partial<FieldDraft>): void => {
    if (changed === name) setSettings({ ...settings, ...wanted })
    else setOthers(others.map((other) => (other.name === changed ? { ...other, ...wanted } : other)))
  }
  const begin = (): void => {
    if (template === null || !canContinue) return
    setIsConfiguring(true)
    if (begun?.template === template && begun.name === name) return
    const file = newFileFor(name, data?.derivations.map((each) => each.file) ?? [])
    // What was configured for the column by another name stays.
    const text =
      begun?.template === template
        ? withTargets(begun.text, (targets) =>
            targets.map((target) => (target === begun.name ? name : target)),
          )
        : firstText(contract, template, name)
    setBegun({ template, name, file, text })
    setAnswer(null)
  }
  const add = async (next: RunLimit | 'no run'): Promise<void> => {
    if (!canAdd || planning.plan === null) return
    if (!(await save(planning.plan, `Added the column ${heading.trim()}`))) return
    const targets = drafts.map((each) => each.name)
    onAdded(name, () => {
      if (next === 'no run') return
      const order = next === null ? { targets } : { targets, limit: next }
      openRunDialog(order, `Compute ${heading.trim()}`, next === null ? doubtText(answer) : null)
    })
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (template === null) void add('no run')
    else begin()
  }
  return (
    <Drawer
      title={computation === null ? 'Add a column' : `Add ${heading.trim()}`}
      isWide={computation !== null}
      isChanged={isChanged && !isSaving}
      onClose={onClose}
      status={
        <PlanStatus
          problem={problem}
          planning={planning}
          isChanged={isPlanned}
          without="Nothing else changes."
          refused={refused}
        />
      }
      firstAction={
        computation !== null && (
          <Button look="quiet" className="column-remove" onClick={() => setIsConfiguring(false)}>
            Back
          </Button>
        )
      }
      actions={
        <>
          {computation !== null ? (
            <>
              <Button disabled={!canAdd} onClick={() => void add('no run')}>
                {isSaving ? 'Adding…' : 'Save only'}
              </Button>
              <RunButtons disabled={!canAdd} onRun={(limit) => void add(limit)} />
            </>
          ) : (
            <Button
              look="primary"
              type="submit"
              form={form}
              disabled={template === null ? !canAdd : !canContinue}
            >
              {isSaving ? 'Adding…' : template === null ? 'Add column' : 'Continue'}
            </Button>
          )}
        </>
      }
    >
      {computation === null ? (
        <form id={form} className="form" onSubmit={submit}>
          <NameInput value={heading} name={title === '' ? null : name} onChange={setHeading} />
          <KindCards chosen={template} runsScripts={data?.scripts ?? false} onChoose={setTemplate} />
          <TypeSelect value={draft.type} onChange={(type) => setSettings({ ...settings, type })} />
          <details className="column-more">
            <summary>More</summary>
            <div className="form">
              <FieldSettings
                draft={draft}
                isDerived={template !== null}
                onChange={(wanted) => setSettings({ ...settings, ...wanted })}
              />
            </div>
          </details>
        </form>
      ) : (
        <NewComputation
          contract={contract}
          drafts={all}
          computation={computation}
          error={planning.error}
          onText={(text) => setBegun({ ...computation, text })}
          onAnother={(other) => setOthers([...others, other])}
          onChange={change}
          gridRows={gridRows}
          onPreview={setAnswer}
          onSave={() => void add('no run')}
        />
      )}
    </Drawer>
  )
}

interface NewComputationProps {
  readonly contract: SheetContract
  /** The columns that are added, the first one first. */
  readonly drafts: readonly FieldDraft[]
  readonly computation: Computation
  /** The error with which the service refuses the text; null for none. */
  readonly error: Error | null
  readonly onText: (text: string) => void
  /** Called with a further column that the derivation fills. */
  readonly onAnother: (draft: FieldDraft) => void
  /** Called with changed settings of a column. */
  readonly onChange: (name: string, change: Partial<FieldDraft>) => void
  readonly gridRows: GridRows
  readonly onPreview: (answer: PreviewAnswer) => void
  readonly onSave: () => void
}

/** The computation of columns that do not exist yet. */
function NewComputation(allProps: NewComputationProps) {
  const { contract, drafts, computation, error, onAnother, onChange, ...props } = allProps
  const { file, text, template } = computation
  const drafted = useMemo(() => contractWith(contract, drafts), [contract, drafts])
  const contractText = useMemo(() => contractTextOf(drafted), [drafted])
  const known = targetsOf(text)
  const filled = drafts.filter(({ name }) => known.includes(name))
  return (
    <ComputedPart
      contract={drafted}
      contractText={contractText}
      file={file}
      text={text}
      targetsNow={null}
      fault={useFault(error, file)}
      onPicked={(name, value) => {
        const type = drafts.find((draft) => draft.name === name)?.type
        if (type !== undefined && value !== null && !isOfType(type, value))
          onChange(name, { type: typeOfValue(value) })
      }}
      {...props}
    >
      <NewColumns drafts={filled} hasChoices={template.kind === 'ai'} onChange={onChange} />
      {template.kind !== 'sql' && (
        <AnotherColumn
          names={drafted.fields.map(({ name }) => name)}
          onAdd={(name, title) => {
            onAnother({ ...EMPTY_DRAFT, name, title, type: guessType(name) })
            props.onText(withTargets(text, (targets) => [...targets, name]))
          }}
        />
      )}
    </ComputedPart>
  )
}

interface NameInputProps {
  readonly value: string
  /** The name of the field; null if it is the heading. */
  readonly name: string | null
  readonly onChange: (heading: string) => void
}

function NameInput({ value, name, onChange }: NameInputProps) {
  const hint = useId()
  return (
    <>
      <label>
        Name
        <input
          // The drawer was opened to type a name.
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
          value={value}
          maxLength={200}
          autoComplete="off"
          aria-describedby={hint}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      </label>
      <p className="form-hint" id={hint}>
        {name === null ? (
          'The heading of the column.'
        ) : (
          <>
            In formulas and requests it is <code>{name}</code>.
          </>
        )}
      </p>
    </>
  )
}

/** Shows the new columns in the grid, with the values of the last preview. */
function useGhost(
  drafts: readonly FieldDraft[],
  shown: { readonly place: FieldPlace; readonly heading: string; readonly answer: PreviewAnswer | null },
  onGhost: (ghost: Ghost) => void,
): void {
  const { place, heading, answer } = shown
  useEffect(() => {
    const untitled = heading.trim() === '' ? 'New column' : heading.trim()
    onGhost({
      place,
      columns: drafts.map(({ name, title, type }, index) => ({
        name,
        title: index === 0 ? untitled : title === '' ? name : title,
        type,
        cells: cellsOf(answer, name),
      })),
    })
  }, [onGhost, place, heading, drafts, answer])
}
