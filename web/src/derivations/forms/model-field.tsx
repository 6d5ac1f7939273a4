import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { derivationsQuery } from '../../api/queries.ts'

interface ModelFieldProps {
  readonly label: string
  readonly hint: string | null
  readonly value: string
  readonly onValue: (value: string) => void
}

/** The choice of a model of `models.yaml`; an input where that has none. */
export function ModelField({ label, hint, value, onValue }: ModelFieldProps) {
  const { data } = useQuery(derivationsQuery)
  const models = data?.models ?? []
  const id = useId()
  if (models.length === 0) {
    return (
      <label>
        {label}
        <input
          value={value}
          spellCheck={false}
          aria-describedby={id}
          onChange={(event) => onValue(event.target.value)}
        />
        <span className="form-hint" id={id}>
          {hint}
        </span>
      </label>
    )
  }
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onValue(event.target.value)}>
        {!models.includes(value) && (
          <option value={value}>{value === '' ? 'Choose…' : `${value} (not in models.yaml)`}</option>
        )}
        {models.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
