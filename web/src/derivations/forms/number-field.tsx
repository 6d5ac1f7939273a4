import { useState } from 'react'
import type { KindField } from './kind-fields.ts'

interface NumberFieldProps {
  readonly field: KindField & { readonly type: 'number' }
  readonly value: number | null
  readonly onValue: (value: number | null) => void
}

/** An input of a number, whose value is kept while what is typed is none. */
export function NumberField({ field: { label, least, unit }, value, onValue }: NumberFieldProps) {
  // What is typed is no number on the way to one, such as "0.".
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? (value === null ? '' : String(value))
  const number = text.trim() === '' ? null : Number(text)
  const isInvalid = number !== null && !(Number.isFinite(number) && number >= least)
  return (
    <label>
      {unit === undefined ? label : `${label} (${unit})`}
      <input
        inputMode="decimal"
        value={text}
        aria-invalid={isInvalid}
        onBlur={() => !isInvalid && setTyped(null)}
        onChange={(event) => {
          const next = event.target.value
          setTyped(next)
          const parsed = next.trim() === '' ? null : Number(next)
          if (parsed === null || (Number.isFinite(parsed) && parsed >= least)) onValue(parsed)
        }}
      />
      {isInvalid && <span className="form-error">Not saved: enter a number of at least {least}</span>}
    </label>
  )
}
