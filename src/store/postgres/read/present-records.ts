import type { Field } from '../../../contract/contract.ts'
import type { PresentRecord } from '../../rules/proposal-difference.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { canBeId, fieldValue } from '../database/values.ts'

/** Returns the existing records with these ids, by id, for comparison with a proposal. */
export async function readPresentRecords(
  db: Connection,
  fields: readonly Field[],
  ids: readonly string[],
): Promise<ReadonlyMap<string, PresentRecord>> {
  const columns = ['"$seq"', '"$written"', ...fields.map(({ name }) => quoted(name))].join(', ')
  const rows = await db.all(`SELECT ${columns} FROM "$data" WHERE id = ANY($1::text[])`, ids.filter(canBeId))
  return new Map(
    rows.map((row) => [
      String(row['id']),
      { key: Number(row['$seq']), value: (field: Field) => fieldValue(field, row) },
    ]),
  )
}
