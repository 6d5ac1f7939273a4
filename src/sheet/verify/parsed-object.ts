import { nestsTooDeep } from '../../contract/json/json-depth.ts'
import { lossyNumberMessage } from '../../contract/json/exact-json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'

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

/**
 * Reads the text of a record as a store has it; null for any other text, and for one that readers can take for different values: with a
 * member twice, or a number that a double cannot represent.
 */
export function parsedRecord(text: string): JsonObject | null {
  const record = parsedObject(text)
  if (record === null || lossyNumberMessage(text) !== null) return null
  return memberCount(record) === colonCount(text) ? record : null
}

/** Returns the number of members of a value, at any depth. */
function memberCount(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0
  const items = Object.values(value)
  return items.reduce<number>(
    (count, item) => count + memberCount(item ?? null),
    Array.isArray(value) ? 0 : items.length,
  )
}

/** Returns the number of colons of a JSON text outside of its strings: one for each member as it is written. */
function colonCount(text: string): number {
  let count = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isInString = !isInString
    else if (isInString && character === '\\') at += 1
    else if (!isInString && character === ':') count += 1
  }
  return count
}

/** Whether a parsed text nests too deep to be a value of a sheet. */
export function isTooDeep(value: unknown, text: string): boolean {
  return text.length > CHECKED_LENGTH && nestsTooDeep(value)
}
