import type { Field } from '../../../contract/contract.ts'
import type { PresentRecord } from '../../rules/proposal-difference.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { canBeId, fromColumn } from '../database/values.ts'

/** The stored record with an id. */
export function storedRow(db: Connection, id: string): StoredRow | undefined {
  return canBeId(id) ? db.get('SELECT * FROM "$data" WHERE id = ?', id) : undefined
}

/** The record with an id as a proposal is compared with it; null when it does not exist. `fields` null reads all of it. */
export function presentRecord(
  db: Connection,
  id: string,
  fields: readonly Field[] | null = null,
): PresentRecord | null {
  const row = fields === null ? storedRow(db, id) : rowWith(db, id, fields)
  if (row === undefined) return null
  return { key: Number(row['$seq']), value: (field: Field) => fromColumn(field, row[field.name]) }
}

function rowWith(db: Connection, id: string, fields: readonly Field[]): StoredRow | undefined {
  const columns = ['"$seq"', ...fields.map(({ name }) => quoted(name))].join(', ')
  return canBeId(id) ? db.get(`SELECT ${columns} FROM "$data" WHERE id = ?`, id) : undefined
}
