import { FormError } from '../../ui/form-error.tsx'
import { useId } from 'react'
import type { SheetField } from '../../api/contract.ts'
import { hasLines } from './record-draft.ts'
import { optionsOf } from '../editors/menu-options.ts'
import { TEMPORAL_EXAMPLES } from '../../values/temporal-text.ts'

interface FieldInputProps {
  readonly field: SheetField
  readonly draft: string
  readonly onDraft: (draft: string) => void
  /** The violation to show. */
  readonly error: string | null
  readonly autoFocus?: boolean
}

/** The input of a field in a form, by type. */
export function FieldInput({ field, draft, onDraft, error, autoFocus = false }: FieldInputProps) {
  const id = useId()
  const hint = hintOf(field)
  const described = [hint === null ? [] : `${id}-hint`, error === null ? [] : `${id}-error`].flat().join(' ')
  const control = {
    id,
    value: draft,
    onChange: (event: { readonly target: { readonly value: string } }) => onDraft(event.target.value),
    autoFocus,
    'aria-required': field.required,
    'aria-invalid': error !== null,
    'aria-describedby': described === '' ? undefined : described,
  }
  return (
    <div className="field-input">
      <label htmlFor={id}>
        {field.title}
        {field.required ? <span className="field-required">required</span> : null}
      </label>
      <Control field={field} control={control} />
      {hint !== null && (
        <p className="form-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <FormError text={error} id={`${id}-error`} />
    </div>
  )
}

interface ControlProps {
  readonly field: SheetField
  readonly control: {
    readonly id: string
    readonly value: string
    readonly onChange: (event: { readonly target: { readonly value: string } }) => void
  }
}

function Control({ field, control }: ControlProps) {
  const {
    type,
    values,
    options: { maxLength, pattern, format },
  } = field
  if (type === 'boolean' || values !== null) {
    return (
      <select {...control}>
        <option value="">No value</option>
        {optionsOf({ ...field, required: true }).map(({ value, label }) => (
          <option key={label} value={String(value)}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  if (type === 'date') return <input type="date" {...control} />
  const isShort =
    (typeof maxLength === 'number' && maxLength <= 200) || pattern !== undefined || format !== undefined
  if (type === 'array' || type === 'object') return <textarea rows={2} spellCheck={false} {...control} />
  if (type === 'string' && !isShort && !field.primaryKey)
    return <textarea rows={1} className="field-long" {...control} />
  const isNumber = type === 'integer' || type === 'number'
  const placeholder = type === 'timestamp' || type === 'time' ? TEMPORAL_EXAMPLES[type] : undefined
  return (
    <input
      inputMode={isNumber ? 'decimal' : undefined}
      placeholder={placeholder}
      spellCheck={false}
      {...control}
    />
  )
}

function hintOf(field: SheetField): string | null {
  const form = hasLines(field)
    ? 'One item per line.'
    : field.type === 'array'
      ? 'A JSON array.'
      : field.type === 'object'
        ? 'A JSON object.'
        : ''
  const derived =
    field.derived === null ? '' : `Computed by ${field.derived.derivation} unless you enter a value.`
  const made = field.primaryKey ? 'Made automatically if it is empty.' : ''
  const hint = [field.description ?? '', form, derived, made].filter((part) => part !== '').join(' ')
  return hint === '' ? null : hint
}
