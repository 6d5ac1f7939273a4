import type { LogicalType } from '../../../contract/contract.ts'
import type { StoreDefinition } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { columnDefinitions } from '../database/schema.ts'
import { changeTables } from './change-tables.ts'

/** Returns the column into which the values of the converted field with this index are written at first. */
export function fillColumn(index: number, type: LogicalType): string {
  return `$fill_${index}_${type}`
}

export async function isColumn(db: Connection, name: string): Promise<boolean> {
  const sql = `SELECT FROM pg_attribute WHERE attrelid = '"$data"'::regclass AND attname = $1 AND NOT attisdropped`
  return (await db.get(sql, name)) !== undefined
}

/** Returns the statement that creates the column, with the one of what it does not preserve exactly. */
export function addFillColumn(name: string, type: LogicalType): string {
  const columns = columnDefinitions({ name, type }).map((column) => `ADD COLUMN ${column}`)
  return `ALTER TABLE "$data" ${columns.join(', ')}`
}

/**
 * Creates empty columns for the fields that a definition converts, in a transaction of its own: later, within that of the
 * definition, readers would wait until all values are converted. Columns that no definition used are empty, and used by the
 * next one.
 */
export async function prepareColumns(
  database: Database,
  { contract, changes }: StoreDefinition,
  lockTimeoutMs: number,
): Promise<void> {
  const wanted = [...(changes?.converted.keys() ?? [])].flatMap((name, index) => {
    const type = contract.fieldByName.get(name)?.type
    return type === undefined ? [] : [{ name: fillColumn(index, type), type }]
  })
  if (wanted.length === 0) return
  await database.writing(lockTimeoutMs, async (db) => {
    const statements: string[] = []
    for (const { name, type } of wanted)
      if (!(await isColumn(db, name))) statements.push(addFillColumn(name, type))
    await changeTables(db, statements, lockTimeoutMs)
  })
}
