import '../derivations/editor/outdated-draft.css'
import { Button } from '../ui/button.tsx'
import type { FieldDraft } from './field-draft.ts'
import type { SettingConflict } from './merge-draft.ts'
import { TYPE_NAMES } from './type-select.tsx'

interface SettingConflictsProps {
  readonly field: string
  readonly keys: readonly SettingConflict[]
  readonly before: FieldDraft
  readonly theirs: FieldDraft
  readonly mine: FieldDraft
  readonly onResolve: (keep: 'mine' | 'theirs') => void
}

const SETTINGS: Readonly<Record<SettingConflict, string>> = {
  name: 'Name',
  title: 'Heading',
  type: 'Type',
  description: 'Description',
  required: 'Required',
  unique: 'Unique',
  values: 'Allowed values',
  editors: 'Who may edit',
  patterns: 'Actors',
}

/** The choice between the settings of two people, with those from which both began. */
export function SettingConflicts({ field, keys, before, theirs, mine, onResolve }: SettingConflictsProps) {
  return (
    <section className="outdated-draft" aria-label="Changed meanwhile">
      <p role="alert">
        <strong>{field} was changed while you edited it.</strong> Nothing is saved until you choose.
      </p>
      <table className="plan-misfits">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Before</th>
            <th scope="col">Theirs</th>
            <th scope="col">Yours</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key}>
              <th scope="row">{SETTINGS[key]}</th>
              {[before, theirs, mine].map((draft, index) => (
                // oxlint-disable-next-line react/no-array-index-key
                <td key={index}>{settingText(draft, key)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div className="outdated-choice">
        <Button onClick={() => onResolve('mine')}>Keep mine</Button>
        <Button onClick={() => onResolve('theirs')}>Use theirs</Button>
      </div>
      <p className="form-hint">What only one of you changed is kept.</p>
    </section>
  )
}

function settingText(draft: FieldDraft, key: SettingConflict): string {
  if (key === 'type') return TYPE_NAMES[draft.type]
  const value = draft[key]
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return value === '' ? '–' : value.replaceAll('\n', ', ')
}
