import { JSON_DEPTH_LIMIT, nestsTooDeep } from '../../contract/json/json-depth.ts'
import { isJsonObject, type JsonObject } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { parseExactly } from '../../contract/json/exact-json.ts'
import { ValidationError } from '../../errors/service-error.ts'

/**
 * Parses a JSON text of a file. Integers beyond ±(2^53−1), and numbers that would lose digits, are a `WrittenNumber`. Throws
 * ValidationError naming its place.
 */
export function parseJson(text: string, place: string): unknown {
  let value: unknown
  try {
    value = parseExactly(text, { writtenIntegers: true })
  } catch (error) {
    // Without the parser's line numbers, which are relative to the text of the record.
    const fault = (error instanceof Error ? error.message : '').replace(/ \(line \d+ column \d+\)$/, '')
    throw new ValidationError(`${place}: not JSON: ${fault}`, 'unreadable_file')
  }
  if (nestsTooDeep(value)) {
    throw new ValidationError(
      `${place}: nested more than ${JSON_DEPTH_LIMIT} levels deep; no field takes that`,
      'unreadable_file',
    )
  }
  return value
}

/** Parses the JSON text of a record. Throws ValidationError naming its place. */
export function parseRecord(text: string, place: string): JsonObject {
  const value = parseJson(text, place)
  if (!isJsonObject(value)) {
    throw new ValidationError(
      `${place}: a record must be a JSON object, got ${showValue(value)}`,
      'unreadable_file',
    )
  }
  return value
}
