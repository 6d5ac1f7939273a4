import type { Field } from '../../../contract/contract.ts'
import type { PresentRecord } from '../../rules/proposal-difference.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { canBeId, fromColumn } from '../database/values.ts'

/** Returns these fields of the record with an id, for comparison with a proposal; null when it does not exist. */
export function presentRecord(
  db: Connection,
  { id, fields }: { readonly id: string; readonly fields: readonly Field[] },
): PresentRecord | null {
  const columns = ['"$seq"', ...fields.map(({ name }) => quoted(name))].join(', ')
  const row = canBeId(id) ? db.get(`SELECT ${columns} FROM "$data" WHERE id = ?`, id) : undefined
  if (row === undefined) return null
  return { key: Number(row['$seq']), value: (field: Field) => fromColumn(field, row[field.name]) }
}
