import type { FieldType } from '../api/contract.ts'

/** The names of the types that a field can have, in the order of the choice. */
export const TYPE_NAMES: Readonly<Record<FieldType, string>> = {
  string: 'Text',
  integer: 'Whole number',
  number: 'Number',
  boolean: 'Yes or no',
  date: 'Date',
  timestamp: 'Date and time',
  time: 'Time of day',
  array: 'List',
  object: 'Object',
}

interface TypeSelectProps {
  /** The label; `Type` by default. */
  readonly label?: string
  readonly value: FieldType
  readonly onChange: (type: FieldType) => void
}

/** The choice of the type of a field. */
export function TypeSelect({ label = 'Type', value, onChange }: TypeSelectProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as FieldType)}>
        {Object.entries(TYPE_NAMES).map(([type, name]) => (
          <option key={type} value={type}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
