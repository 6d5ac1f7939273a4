import type { SheetField } from '../../api/contract.ts'
import { parseNumber, type Parsed } from '../../values/parse-number.ts'
import { hasPlainItems, parseText } from '../../values/value-text.ts'

/** Whether the field is typed as several lines. */
export function hasLines({ type, itemType }: SheetField): boolean {
  return type === 'array' && hasPlainItems(itemType)
}

/** Parses the input of a field; arrays have one item per line. */
export function parseDraft(field: SheetField, draft: string): Parsed {
  if (!hasLines(field) || draft.trim() === '') return parseText(field, draft)
  const lines = draft.split('\n').filter((line) => line.trim() !== '')
  if (field.itemType !== 'integer' && field.itemType !== 'number')
    return { value: lines.map((line) => line.trim()) }
  const items: unknown[] = []
  for (const line of lines) {
    const parsed = parseNumber(field.itemType, line)
    if ('error' in parsed) return parsed
    items.push(parsed.value)
  }
  return { value: items }
}

/** Parses the inputs of a record, or returns the errors by field. Fields without a value are omitted. */
export function parseDrafts(
  fields: readonly SheetField[],
  drafts: Readonly<Record<string, string>>,
):
  | { readonly record: Readonly<Record<string, unknown>> }
  | { readonly errors: Readonly<Record<string, string>> } {
  const record: [string, unknown][] = []
  const errors: [string, string][] = []
  for (const field of fields) {
    const parsed = parseDraft(field, drafts[field.name] ?? '')
    if ('error' in parsed) errors.push([field.name, parsed.error])
    else if (parsed.value !== null) record.push([field.name, parsed.value])
    else if (field.required) errors.push([field.name, 'is required'])
  }
  return errors.length > 0 ? { errors: Object.fromEntries(errors) } : { record: Object.fromEntries(record) }
}

/** Returns the fields of the form: the id, then required fields, then others that the actor may write. */
export function formFields(
  fields: readonly SheetField[],
  mayWrite: ReadonlySet<string>,
): readonly SheetField[] {
  const shown = fields.filter(({ name, primaryKey }) => primaryKey || mayWrite.has(name))
  const rank = ({ primaryKey, required, derived }: SheetField): number =>
    primaryKey ? 0 : derived !== null ? 3 : required ? 1 : 2
  return shown.toSorted((a, b) => rank(a) - rank(b))
}
