import { useId } from 'react'
import { mayBeClosed, type Editors, type FieldDraft } from './field-draft.ts'

interface FieldSettingsProps {
  readonly draft: FieldDraft
  readonly isDerived: boolean
  readonly onChange: (change: Partial<FieldDraft>) => void
}

/** The settings of a field that most fields do not need. */
export function FieldSettings({ draft, isDerived, onChange }: FieldSettingsProps) {
  return (
    <>
      <label>
        Description
        <textarea
          rows={2}
          value={draft.description}
          onChange={(event) => onChange({ description: event.currentTarget.value })}
        />
      </label>
      <label className="column-check">
        <input
          type="checkbox"
          checked={draft.required}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
        <span>Required: every record has a value</span>
      </label>
      <label className="column-check">
        <input
          type="checkbox"
          checked={draft.unique}
          onChange={(event) => onChange({ unique: event.currentTarget.checked })}
        />
        <span>Unique: no two records have the same value</span>
      </label>
      {mayBeClosed(draft.type) && (
        <AllowedValues values={draft.values} onChange={(values) => onChange({ values })} />
      )}
      <label>
        Who may edit
        <select
          value={draft.editors}
          onChange={(event) => onChange({ editors: event.currentTarget.value as Editors })}
        >
          <option value="default">{isDerived ? 'Nobody: values are computed' : 'Anybody'}</option>
          {(isDerived || draft.editors === 'anybody') && <option value="anybody">Everybody</option>}
          <option value="people">People</option>
          {(!isDerived || draft.editors === 'nobody') && <option value="nobody">Nobody</option>}
          <option value="patterns">These actors…</option>
        </select>
      </label>
      {draft.editors === 'patterns' && (
        <label>
          Actors, separated by commas
          <input
            value={draft.patterns}
            spellCheck={false}
            placeholder="human:*, agent:pricing"
            onChange={(event) => onChange({ patterns: event.currentTarget.value })}
          />
        </label>
      )}
    </>
  )
}

interface AllowedValuesProps {
  /** One on a line. */
  readonly values: string
  readonly onChange: (values: string) => void
}

/** The closed list of the values of a field. */
export function AllowedValues({ values, onChange }: AllowedValuesProps) {
  const hint = useId()
  return (
    <div className="column-setting">
      <label>
        Allowed values
        <textarea
          rows={3}
          value={values}
          aria-describedby={hint}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      </label>
      <p className="form-hint" id={hint}>
        One on a line. Without any, all values are allowed.
      </p>
    </div>
  )
}
