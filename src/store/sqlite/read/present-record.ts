import type { Field } from '../../../contract/contract.ts'
import type { PresentRecord } from '../../rules/proposal-difference.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { canBeId, fromColumn } from '../database/values.ts'

/** The stored record with an id. */
export function storedRow(db: Connection, id: string): StoredRow | undefined {
  return canBeId(id) ? db.get('SELECT * FROM "$data" WHERE id = ?', id) : undefined
}

/** The record with an id as a proposal is compared with it; null when it does not exist. */
export function presentRecord(db: Connection, id: string): PresentRecord | null {
  const row = storedRow(db, id)
  if (row === undefined) return null
  return { key: Number(row['$seq']), value: (field: Field) => fromColumn(field, row[field.name]) }
}
