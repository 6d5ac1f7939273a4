import type { SheetField } from '../../api/contract.ts'
import { parseNumber, type Parsed } from '../../values/parse-number.ts'
import { parseText } from '../../values/value-text.ts'

/** How a field is typed in a form. */
export function hasLines({ type, itemType }: SheetField): boolean {
  return type === 'array' && (itemType === 'string' || itemType === 'integer' || itemType === 'number')
}

/** The value that was typed for a field of a new record: arrays have an item on each line. */
export function parseDraft(field: SheetField, draft: string): Parsed {
  if (!hasLines(field) || draft.trim() === '') return parseText(field, draft)
  const lines = draft.split('\n').filter((line) => line.trim() !== '')
  if (field.itemType !== 'integer' && field.itemType !== 'number')
    return { value: lines.map((line) => line.trim()) }
  const items: unknown[] = []
  for (const line of lines) {
    const parsed = parseNumber(field.itemType, line)
    if ('fault' in parsed) return parsed
    items.push(parsed.value)
  }
  return { value: items }
}

/** The record that was typed; or what is wrong, by field. Fields without a value are left out. */
export function parseDrafts(
  fields: readonly SheetField[],
  drafts: Readonly<Record<string, string>>,
):
  | { readonly record: Readonly<Record<string, unknown>> }
  | { readonly faults: Readonly<Record<string, string>> } {
  const record: [string, unknown][] = []
  const faults: [string, string][] = []
  for (const field of fields) {
    const parsed = parseDraft(field, drafts[field.name] ?? '')
    if ('fault' in parsed) faults.push([field.name, parsed.fault])
    else if (parsed.value !== null) record.push([field.name, parsed.value])
    else if (field.required) faults.push([field.name, 'is required'])
  }
  return faults.length > 0 ? { faults: Object.fromEntries(faults) } : { record: Object.fromEntries(record) }
}

/** The fields of the form: the id first, then what is required, then the rest that the actor may write. */
export function formFields(
  fields: readonly SheetField[],
  mayWrite: ReadonlySet<string>,
): readonly SheetField[] {
  const shown = fields.filter(({ name, primaryKey }) => primaryKey || mayWrite.has(name))
  const rank = ({ primaryKey, required, derived }: SheetField): number =>
    primaryKey ? 0 : derived !== null ? 3 : required ? 1 : 2
  return shown.toSorted((a, b) => rank(a) - rank(b))
}
