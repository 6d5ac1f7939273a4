import type { SheetField } from '../api/contract.ts'

/** Returns the fields that contain every word in their name, title, type, description, derivation or writers. */
export function searchFields(fields: readonly SheetField[], search: string): readonly SheetField[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return fields
  return fields.filter((field) => {
    const text = textOf(field)
    return words.every((word) => text.includes(word))
  })
}

function textOf({
  name,
  title,
  type,
  description,
  derived,
  editableBy,
  values,
  required,
  unique,
}: SheetField): string {
  const parts = [
    name,
    title,
    type,
    description,
    derived && `derived ${derived.derivation}`,
    ...(editableBy ?? []),
    ...(values ?? []),
    required ? 'required' : null,
    unique ? 'unique' : null,
  ]
  return parts
    .filter((part) => part !== null)
    .join('\n')
    .toLowerCase()
}
