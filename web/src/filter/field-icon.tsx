import { Asterisk } from 'lucide-react'
import type { SheetField } from '../api/contract.ts'
import { ANY_COLUMN } from '../state/conditions.ts'
import { TypeIcon } from '../values/type-icon.tsx'

/** An icon for the type of a field, or for any column. */
export function FieldIcon({ field }: { readonly field: SheetField }) {
  return field.name === ANY_COLUMN ? (
    <Asterisk className="type-icon" size={13} aria-hidden="true" />
  ) : (
    <TypeIcon field={field} />
  )
}
