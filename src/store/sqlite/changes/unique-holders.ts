import type { Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { toColumn } from '../database/values.ts'

/** Finds the ids of the records that have a value in a field, one after the other as they are asked for. */
export function holdersIn(db: Connection): (field: Field, value: JsonValue) => Iterable<string> {
  return function* (field, value) {
    const holding = db.prepare(`SELECT id FROM "$data" WHERE ${quoted(field.name)} = ?`)
    for (const row of holding.iterate(toColumn(value))) yield String(row['id'])
  }
}
