import type { Field } from '../contract/contract.ts'
import type { JsonValue } from '../contract/json.ts'
import { parseLine, valuesBefore } from '../provenance/log-line.ts'
import type { JsonBytes } from './sheet-store.ts'

/** Notes the values of fields before a line changed them, unless an earlier line did. */
export function noteValuesBefore(
  text: string,
  fields: readonly Field[],
  values: Map<string, JsonValue>,
): void {
  const before = valuesBefore(parseLine(text) ?? {})
  for (const { name } of fields) {
    if (!values.has(name) && Object.hasOwn(before, name)) values.set(name, before[name] ?? null)
  }
}

/** A JSON array of these records. */
export function jsonArray(records: readonly JsonBytes[]): JsonBytes {
  const comma = Buffer.from(',')
  const parts = records.flatMap((record, index) => (index === 0 ? [record] : [comma, record]))
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')])
}
