import { nestsTooDeep } from '../../contract/json/json-depth.ts'
import { isJsonObject, type JsonObject } from '../../contract/json/json.ts'

/** The length of texts that are checked for their depth: shorter ones cannot nest too deep to be compared. */
const CHECKED_LENGTH = 2000

/** Reads the text of a JSON object; null for any other text, and for one that no sheet has since it nests too deep. */
export function parsedObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && !isTooDeep(value, text) ? value : null
  } catch {
    return null
  }
}

/** Whether a parsed text nests too deep to be a value of a sheet. */
export function isTooDeep(value: unknown, text: string): boolean {
  return text.length > CHECKED_LENGTH && nestsTooDeep(value)
}
