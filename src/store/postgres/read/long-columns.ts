import type { LogicalType } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { rawMembersInTurns, rawValue } from '../../../contract/json/raw-json.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { columnsOf, type TypedField } from '../database/columns.ts'
import { fittingRecords } from '../json/fitting-records.ts'

const LONG_TYPES: ReadonlySet<LogicalType> = new Set(['string', 'array', 'object'])

/**
 * Returns columns of `$data AS data` for these fields: null for each value of `mostBytes` or more, whose column is listed in
 * `$long`.
 */
export function columnsUnlessLong(fields: readonly TypedField[], mostBytes: number): string[] {
  const canBeLong = new Set(
    fields.flatMap((field) => [
      ...(LONG_TYPES.has(field.type) ? [quoted(field.name)] : []),
      ...columnsOf([field]).slice(1).map(quoted),
    ]),
  )
  const exceeds = (column: string): string => `octet_length(data.${column}::text) >= ${mostBytes}`
  const unlessLong = (column: string): string =>
    canBeLong.has(column)
      ? `CASE WHEN ${exceeds(column)} THEN NULL ELSE data.${column} END AS ${column}`
      : `data.${column}`
  const long = [...canBeLong].map((column) => `CASE WHEN ${exceeds(column)} THEN ${quotedText(column)} END`)
  return [
    ...columnsOf(fields).map(quoted).map(unlessLong),
    `array_to_json(array_remove(ARRAY[${long.join(', ')}]::text[], NULL)) AS "$long"`,
  ]
}

function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Returns the fields whose values a row of {@link columnsUnlessLong} lacks. */
export function longFieldsOf<T extends TypedField>(row: StoredRow, fields: readonly T[]): T[] {
  const long = new Set(row['$long'] === undefined ? [] : (JSON.parse(String(row['$long'])) as string[]))
  if (long.size === 0) return []
  return fields.filter((field) => columnsOf([field]).some((name) => long.has(quoted(name))))
}

/** Reads values of a record by their fields, long ones as JSON text; no values of a record that does not exist. */
export async function longValues(
  db: Connection,
  key: RecordKey,
  fields: readonly TypedField[],
): Promise<ReadonlyMap<string, JsonValue>> {
  const { records } = await fittingRecords(db, [key], fields)
  const members = await rawMembersInTurns(records.subarray(1, -1))
  return new Map([...members].map(([name, json]) => [name, rawValue(json)]))
}
