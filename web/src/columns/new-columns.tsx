import type { FieldType } from '../api/contract.ts'
import { AllowedValues } from './field-settings.tsx'
import { mayBeClosed, type FieldDraft } from './field-draft.ts'
import { TypeSelect } from './type-select.tsx'

interface NewColumnsProps {
  /** The columns that the computation fills and the sheet does not have yet. */
  readonly drafts: readonly FieldDraft[]
  /** Whether the allowed values are shown, as for a model, which is asked for one of them. */
  readonly hasChoices: boolean
  readonly onChange: (name: string, change: Partial<FieldDraft>) => void
}

/** The types of the columns that a computation fills. */
export function NewColumns({ drafts, hasChoices, onChange }: NewColumnsProps) {
  return drafts.map((draft) => {
    const { name, title, type, values } = draft
    const label = drafts.length === 1 ? 'Type' : `Type of ${title === '' ? name : title}`
    return (
      <div key={name} className="form new-column">
        <TypeSelect
          label={label}
          value={type}
          onChange={(next: FieldType) => onChange(name, { type: next })}
        />
        {hasChoices && mayBeClosed(type) && (
          <AllowedValues values={values} onChange={(next) => onChange(name, { values: next })} />
        )}
      </div>
    )
  })
}
