import type { FieldType, SheetField } from '../api/contract.ts'

/** Whether a value contains a text as `search` of the service finds it: in its text, its number, its keys and items. */
export function containsText(type: FieldType, value: unknown, text: string): boolean {
  if (value === null || value === undefined || type === 'boolean') return false
  const pattern = patternOf(text)
  return pattern !== null && textsIn(value).some((each) => pattern.test(each))
}

/** Returns the fields of a record that contain a text, in their order. */
export function fieldsWith<F extends Pick<SheetField, 'name' | 'type'>>(
  fields: readonly F[],
  record: Readonly<Record<string, unknown>>,
  text: string,
): readonly F[] {
  return fields.filter(({ name, type }) => containsText(type, record[name], text))
}

/**
 * Returns the pattern of a text to find, ignoring case; null for an empty text. Digits are found with and without separators of
 * thousands, and date and time with a space or a `T` between them.
 */
export function patternOf(text: string, flags = 'iu'): RegExp | null {
  if (text === '') return null
  const isNumber = /^[-+.,\d]*\d[-+.,\d]*$/.test(text)
  const source = isNumber
    ? [...text.replaceAll(',', '')].map(escaped).join(',?')
    : escaped(text).replaceAll(/(?<=\d) (?=\d)/g, '[ T]')
  return new RegExp(source, flags)
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
}

function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)])
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : []
}
