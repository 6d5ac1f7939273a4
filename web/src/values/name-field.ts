import type { SheetField } from '../api/contract.ts'

const NAMES = ['name', 'title', 'label', 'full_name', 'display_name']

/** Returns the field that names a record for people; null if none does. */
export function nameField(fields: readonly SheetField[]): SheetField | null {
  const texts = fields.filter(({ type, primaryKey }) => type === 'string' && !primaryKey)
  for (const name of NAMES) {
    const found = texts.find(
      (field) => field.name.toLowerCase() === name || field.title.toLowerCase() === name,
    )
    if (found !== undefined) return found
  }
  return null
}
