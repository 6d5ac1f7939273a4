import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { nestsTooDeep } from '../../contract/json/json-depth.ts'
import { ValidationError } from '../../errors/service-error.ts'

/** Records that somebody parsed already, held to the limits of those that the store parses. Throws ValidationError. */
export function requireJsonRecords(records: readonly unknown[]): readonly JsonObject[] {
  if (nestsTooDeep(records)) {
    throw new ValidationError(
      'the records nest arrays and objects too deep; send flatter values',
      'invalid_json',
    )
  }
  return records.map((record, position) => {
    const value = record as JsonValue
    if (isJsonObject(value)) return value
    throw new ValidationError(`records[${position}] must be an object`)
  })
}
