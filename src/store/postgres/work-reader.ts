import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { RecordKey, WorkItem, WorkQuery } from '../cell-work.ts'
import type { WorkState } from '../sheet-store.ts'
import type { Connection, SqlInput, StoredRow } from './connection.ts'
import { quoted } from './schema.ts'
import { fieldValue } from './values.ts'
import { TODO_STATES, workCell, type CellColumns } from '../stored-rows.ts'

/**
 * The next records that a derivation has work for, with what computing them takes. To be called in a transaction that reads
 * one state of the store: marks and inputs must belong together.
 */
export async function readWork(db: Connection, query: WorkQuery, contract: Contract): Promise<WorkItem[]> {
  const ids = await targetIds(db, query.targets)
  const keys = await workKeys(db, query, [...ids.values()])
  if (keys.length === 0) return []
  const inputs = query.inputs
    .map((name) => contract.fieldByName.get(name))
    .filter((field) => field !== undefined)
  const rows = await db.all(itemStatement(inputs, [...ids.values()]), keys)
  return rows.map((row) => workItem(row, inputs, query.targets))
}

/** The store's numbers of derived fields; 0 for one that it does not know. */
export async function targetIds(db: Connection, fields: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.all('SELECT id, field FROM "$target"')
  const all = new Map(rows.map((row) => [String(row['field']), Number(row['id'])]))
  return new Map(fields.map((field) => [field, all.get(field) ?? 0]))
}

/** Which records are asked for, whatever of them. */
export type KeyQuery = Omit<WorkQuery, 'inputs'>

/** The next records that there is work for, ascending; `targets` are numbers of the query's. */
export function workKeys(
  db: Connection,
  { force, state, after, limit, only }: KeyQuery,
  targets: readonly number[],
): Promise<RecordKey[]> {
  const from = after ?? 0
  const everyRecord = force && state === null
  if (only !== null) {
    const asked = only.filter((key) => key > from)
    return everyRecord
      ? keysOf(
          db,
          'SELECT DISTINCT asked.key FROM unnest($1::bigint[]) AS asked(key) JOIN "$data" ON "$seq" = asked.key ORDER BY 1 LIMIT $2',
          asked,
          limit,
        )
      : keysOf(
          db,
          `SELECT DISTINCT record AS key
           FROM unnest($1::integer[]) AS targets(target) CROSS JOIN unnest($2::bigint[]) AS asked(record)
           JOIN "$todo" USING (target, record) WHERE $3::smallint IS NULL OR state = $3 ORDER BY 1 LIMIT $4`,
          targets,
          asked,
          state === null ? null : TODO_STATES[state],
          limit,
        )
  }
  if (everyRecord) {
    return keysOf(db, 'SELECT "$seq" AS key FROM "$data" WHERE "$seq" > $1 ORDER BY 1 LIMIT $2', from, limit)
  }
  return todoKeys(db, { targets, state, from, limit })
}

/** The next records with a cell of the targets that has work, or is in a state. */
function todoKeys(
  db: Connection,
  query: { targets: readonly number[]; state: WorkState | null; from: RecordKey; limit: number },
): Promise<RecordKey[]> {
  const { targets, state, from, limit } = query
  // A failed cell is found by its failure; and many missing cells need not be gone through to learn that none is stale.
  const source =
    state === 'failed'
      ? 'SELECT record FROM "$failure" WHERE target = asked.id AND record > $2'
      : state === null
        ? 'SELECT record FROM "$todo" WHERE target = asked.id AND record > $2'
        : `SELECT record FROM "$todo" WHERE target = asked.id AND record > $2 AND state = ${TODO_STATES[state]}
             AND EXISTS (SELECT FROM "$target" WHERE id = asked.id AND ${state} > 0)`
  return keysOf(
    db,
    `SELECT DISTINCT record AS key FROM unnest($1::integer[]) AS asked(id)
     CROSS JOIN LATERAL (${source} ORDER BY record LIMIT $3) AS next ORDER BY 1 LIMIT $3`,
    targets,
    from,
    limit,
  )
}

async function keysOf(db: Connection, sql: string, ...params: readonly SqlInput[]): Promise<RecordKey[]> {
  return (await db.all(sql, ...params)).map((row) => Number(row['key']))
}

/** Records with their inputs and the state of each target's cell. Target ids are the store's own numbers. */
function itemStatement(inputs: readonly Field[], targets: readonly number[]): string {
  const columns = [
    'data."$seq"',
    'data."$written"',
    'data.id',
    ...inputs.filter(({ name }) => name !== 'id').map(({ name }) => `data.${quoted(name)}`),
    ...targets.flatMap((_, index) => [
      `encode(cell${index}.hash, 'hex') AS "$hash${index}"`,
      `cell${index}.mark AS "$cell${index}"`,
      `todo${index}.state AS "$state${index}"`,
      `todo${index}.mark AS "$todo${index}"`,
    ]),
  ]
  const joins = targets.map(
    (id, index) =>
      `LEFT JOIN "$cell" AS cell${index} ON cell${index}.target = ${id} AND cell${index}.record = data."$seq"
       LEFT JOIN "$todo" AS todo${index} ON todo${index}.target = ${id} AND todo${index}.record = data."$seq"`,
  )
  return `SELECT ${columns.join(', ')} FROM unnest($1::bigint[]) AS asked("$key") JOIN "$data" AS data ON data."$seq" = asked."$key" ${joins.join(' ')} ORDER BY data."$seq"`
}

function workItem(row: StoredRow, inputs: readonly Field[], targets: readonly string[]): WorkItem {
  const values = Object.create(null) as Record<string, JsonValue>
  for (const field of inputs) values[field.name] = fieldValue(field, row)
  return {
    key: Number(row['$seq']),
    id: String(row['id']),
    inputs: values,
    cells: targets.map((target, index) => workCell(target, cellColumns(row, index))),
  }
}

function cellColumns(row: StoredRow, index: number): CellColumns {
  return [row[`$hash${index}`], row[`$cell${index}`], row[`$state${index}`], row[`$todo${index}`]]
}
