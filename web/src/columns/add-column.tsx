import { useEffect, useId, useState, type FormEvent } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { Button } from '../ui/button.tsx'
import '../ui/form.css'
import { withField, type FieldPlace } from './contract-with.ts'
import { Drawer } from './drawer.tsx'
import { draftProblem, EMPTY_DRAFT, guessType, nameOfHeading, type FieldDraft } from './field-draft.ts'
import { FieldSettings } from './field-settings.tsx'
import type { Ghost, GhostCell } from './ghost.ts'
import { isReady, PlanStatus } from './plan-status.tsx'
import { TypeSelect } from './type-select.tsx'
import { usePlan, useSaving } from './use-plan.ts'

interface AddColumnProps {
  readonly contract: SheetContract
  readonly place: FieldPlace
  readonly onGhost: (ghost: Ghost) => void
  readonly onClose: () => void
  /** Called with the name of the new field. */
  readonly onAdded: (name: string) => void
}

const NO_CELLS: ReadonlyMap<string, GhostCell> = new Map()

/** The drawer in which a column is named, typed and added. */
export function AddColumn({ contract, place, onGhost, onClose, onAdded }: AddColumnProps) {
  const form = useId()
  const hint = useId()
  const [heading, setHeading] = useState('')
  const [settings, setSettings] = useState<Partial<FieldDraft>>({})
  const name = nameOfHeading(heading) || (heading.trim() === '' ? '' : `column_${contract.fields.length + 1}`)
  const title = heading.trim() === name ? '' : heading.trim()
  const draft: FieldDraft = { ...EMPTY_DRAFT, type: guessType(name), ...settings, name, title }
  const problem = draftProblem(
    draft,
    contract.fields.map((field) => field.name),
  )
  const isNamed = name !== ''
  const key = isNamed && problem === null ? JSON.stringify(['add', draft, place]) : null
  const planning = usePlan(key, (document) => ({ document: { ...withField(document, draft, place) } }))
  const { save, isSaving, refused } = useSaving()
  const canAdd = isReady(planning) && !isSaving
  const change = (wanted: Partial<FieldDraft>): void => setSettings({ ...settings, ...wanted })

  const { type } = draft
  useEffect(() => {
    onGhost({
      place,
      columns: [
        { name, title: heading.trim() === '' ? 'New column' : heading.trim(), type, cells: NO_CELLS },
      ],
    })
  }, [onGhost, place, name, heading, type])

  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!canAdd || planning.plan === null) return
    if (await save(planning.plan, `Added the column ${heading.trim()}`)) onAdded(name)
  }
  return (
    <Drawer
      title="Add a column"
      onClose={onClose}
      status={
        <PlanStatus
          problem={problem}
          planning={planning}
          isChanged={isNamed}
          without="Nothing else changes."
          refused={refused}
        />
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={form} disabled={!canAdd}>
            {isSaving ? 'Adding…' : 'Add column'}
          </Button>
        </>
      }
    >
      <form id={form} className="form" onSubmit={(event) => void add(event)}>
        <label>
          Name
          <input
            // The drawer was opened to type a name.
            // oxlint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            value={heading}
            maxLength={200}
            autoComplete="off"
            aria-describedby={hint}
            onChange={(event) => setHeading(event.currentTarget.value)}
          />
        </label>
        <p className="form-hint" id={hint}>
          {title === '' ? (
            'The heading of the column.'
          ) : (
            <>
              In formulas and requests it is <code>{name}</code>.
            </>
          )}
        </p>
        <TypeSelect value={draft.type} onChange={(chosen) => change({ type: chosen })} />
        <details className="column-more">
          <summary>More</summary>
          <div className="form">
            <FieldSettings draft={draft} isDerived={false} onChange={change} />
          </div>
        </details>
      </form>
    </Drawer>
  )
}
