import { X } from 'lucide-react'
import { useId } from 'react'
import type { SheetContract, SheetField } from '../../api/contract.ts'
import { AddSelect } from './add-select.tsx'

interface NamesInputProps {
  readonly label: string
  readonly hint: string | null
  readonly names: readonly string[]
  /** The fields that can be added. */
  readonly choices: readonly SheetField[]
  readonly contract: SheetContract
  /** The least number of names. */
  readonly least?: number
  readonly onNames: (names: readonly string[]) => void
}

/** A list of fields, to which others are added. */
export function NamesInput({ label, hint, names, choices, contract, least = 0, onNames }: NamesInputProps) {
  const others = choices.filter(({ name }) => !names.includes(name))
  const id = useId()
  return (
    <div className="names-input" role="group" aria-labelledby={id}>
      <span className="form-label" id={id}>
        {label}
      </span>
      <div className="names-list">
        {names.map((name) => (
          <span key={name} className={contract.fieldByName.has(name) ? 'field-chip' : 'field-chip unknown'}>
            {contract.titleOf(name)}
            {names.length > least && (
              <button
                type="button"
                aria-label={`Remove ${contract.titleOf(name)} from ${label}`}
                onClick={() => onNames(names.filter((each) => each !== name))}
              >
                <X size={12} />
              </button>
            )}
          </span>
        ))}
        {others.length > 0 && (
          <AddSelect
            label={`Add a field to ${label}`}
            text="Add a field…"
            options={others.map(({ name, title }) => ({ value: name, name: title }))}
            onAdd={(name) => onNames([...names, name])}
          />
        )}
      </div>
      {hint !== null && <span className="form-hint">{hint}</span>}
    </div>
  )
}
