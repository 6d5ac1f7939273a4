import type { Field, LogicalType } from '../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { valuesBefore } from '../../provenance/log-line.ts'
import type { JsonBytes } from '../sheet-store.ts'

/** A field, and the name under which a line of the log has its value; null for none. */
interface LoggedField extends Pick<Field, 'name'> {
  loggedAs?(seq: number): string | null
  /** See `PastField`. */
  readonly kept?: readonly string[]
}

/** Stores the values of fields before a line changed them, unless an earlier line did. */
export function noteValuesBefore(
  line: JsonObject | null,
  fields: readonly LoggedField[],
  values: Map<string, JsonValue>,
): void {
  const before = valuesBefore(line ?? {})
  const seq = Number(line?.['seq'])
  const kept = line?.['kept']
  for (const { name, loggedAs, kept: columns = [] } of fields) {
    if (values.has(name)) continue
    const logged = loggedAs === undefined ? name : loggedAs(seq)
    if (logged !== null && Object.hasOwn(before, logged)) values.set(name, before[logged] ?? null)
    // A deletion has the values that the record kept of removed and converted fields.
    const column = isJsonObject(kept) ? columns.find((one) => Object.hasOwn(kept, one)) : undefined
    if (column !== undefined && isJsonObject(kept)) values.set(name, kept[column] ?? null)
  }
}

/** Returns a JSON array of these records. */
export function jsonArray(records: readonly JsonBytes[]): JsonBytes {
  const comma = Buffer.from(',')
  const parts = records.flatMap((record, index) => (index === 0 ? [record] : [comma, record]))
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')])
}

/** Whether a column of this type can hold a value, which may be of a time when its field had another type. */
export function canHold(type: LogicalType, value: JsonValue): boolean {
  if (value === null) return true
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'number':
    case 'boolean':
      return typeof value === type
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isJsonObject(value)
    case 'string':
    case 'date':
    case 'timestamp':
    case 'time':
      return typeof value === 'string'
  }
}
