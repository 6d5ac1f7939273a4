import type { FieldType } from '../api/contract.ts'
import { FIELD_TYPES } from './field-draft.ts'

const NAMES: Readonly<Record<FieldType, string>> = {
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
  readonly value: FieldType
  readonly onChange: (type: FieldType) => void
}

/** The choice of the type of a field. */
export function TypeSelect({ value, onChange }: TypeSelectProps) {
  return (
    <label>
      Type
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as FieldType)}>
        {FIELD_TYPES.map((type) => (
          <option key={type} value={type}>
            {NAMES[type]}
          </option>
        ))}
      </select>
    </label>
  )
}
