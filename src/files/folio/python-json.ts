import { isJsonObject, type JsonValue } from '../../contract/json/json.ts'

/** Returns a value as `json.dumps` of Python writes it, with a space after `,` and `:`, so that folio rewrites a line with the same bytes. */
export function pythonJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(pythonJson).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${pythonJson(member)}`)
    .join(', ')}}`
}
