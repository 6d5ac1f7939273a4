import type { Contract } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { InputBytes, RecordKey, WorkItem, WorkQuery } from '../../cell-work.ts'
import type { PendingInput } from '../../../errors/block.ts'
import type { WorkState } from '../../sheet-store.ts'
import type { Connection, SqlInput, StoredRow } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { columnsOf } from '../database/columns.ts'
import { fieldValue } from '../database/values.ts'
import { columnsUnlessLong, longFieldsOf } from './long-columns.ts'
import {
  inputPage,
  LONG_VALUE_BYTES,
  longFields,
  type InputPage,
  cellJoins,
  workInputs,
  type TargetIds,
  type WorkInput,
} from '../../rows/work-inputs.ts'
import { pendingInput, TODO_STATES, workCell, type CellColumns } from '../../rows/stored-rows.ts'

/**
 * Returns the next records with pending cells of a derivation, and the inputs of its computations. Call it in a transaction
 * that reads one state of the store: versions and inputs must belong together.
 */
export async function readWork(db: Connection, query: WorkQuery, contract: Contract): Promise<WorkItem[]> {
  const known = await knownTargets(db)
  const ids = query.targets.map((field) => known.get(field)?.id ?? 0)
  const changed = query.targets.map((field) => known.get(field)?.changed ?? 0)
  const keys = await workKeys(db, query, ids)
  if (keys.length === 0) return []
  const inputs = workInputs(query, contract, known)
  const { keys: page, tooLong } = await readPage(db, keys, inputs, query)
  const rows = await db.all(itemStatement(inputs, ids, { ...query, isLong: tooLong !== null }), page)
  return rows.map((row) => ({
    ...workItem(row, inputs, { targets: query.targets, changed }),
    ...(tooLong !== null && { tooLong }),
  }))
}

/** Reads the first records, as many as are read at once. */
async function readPage(
  db: Connection,
  keys: readonly RecordKey[],
  inputs: readonly WorkInput[],
  { inputLimit }: WorkQuery,
): Promise<InputPage> {
  const { text, json } = longFields(inputs.map(({ field }) => field))
  if (inputLimit === undefined || text.length + json.length === 0) return { keys, tooLong: null }
  const sql = `SELECT "$seq" AS key, ${sum(text.map(({ name }) => `coalesce(octet_length(${quoted(name)}), 0)`))} AS text,
      ${sum(
        json.map(
          (field) =>
            `greatest(${columnsOf([field])
              .map((name) => jsonBytes(quoted(name), inputLimit))
              .join(', ')})`,
        ),
      )} AS json
    FROM "$data" WHERE "$seq" = ANY($1::bigint[]) ORDER BY "$seq"`
  const rows = await db.all(sql, keys)
  const sized = rows.map((row) => ({
    key: Number(row['key']),
    text: Number(row['text']),
    json: Number(row['json']),
  }))
  return inputPage(sized, inputLimit)
}

function sum(terms: readonly string[]): string {
  return ['0::bigint', ...terms].join(' + ')
}

/**
 * Returns SQL for the approximate bytes of a column of JSON: those of its text when it is compressed or may exceed the
 * limit.
 */
function jsonBytes(column: string, { json }: InputBytes): string {
  const isShort = `pg_column_compression(${column}) IS NULL AND pg_column_size(${column}) <= ${json}`
  return `coalesce(CASE WHEN ${isShort} THEN pg_column_size(${column}) ELSE octet_length(${column}::text) END, 0)`
}

async function knownTargets(db: Connection): Promise<TargetIds> {
  const rows = await db.all('SELECT id, field, active, changed FROM "$target"')
  return new Map(
    rows.map((row) => {
      const id = Number(row['id'])
      return [
        String(row['field']),
        { id, activeId: row['active'] === true ? id : null, changed: Number(row['changed']) },
      ]
    }),
  )
}

/** Returns the store's ids of derived fields; 0 for a field that it does not know. */
export async function targetIds(db: Connection, fields: readonly string[]): Promise<Map<string, number>> {
  const known = await knownTargets(db)
  return new Map(fields.map((field) => [field, known.get(field)?.id ?? 0]))
}

/** Selects records, without their inputs. */
export type KeyQuery = Omit<WorkQuery, 'inputs'>

/**
 * Returns the keys of the next records with pending cells, ascending; `targets` are the ids of the query's targets. The limit in the
 * statement for a list keeps the planner from reading all of `$todo`, as in `known-cells.ts`.
 */
export function workKeys(
  db: Connection,
  { force, state, ready = false, after, limit, only }: KeyQuery,
  targets: readonly number[],
): Promise<RecordKey[]> {
  const from = after ?? 0
  const everyRecord = force && state === null
  if (only !== null) {
    const wanted = only.filter((key) => key > from)
    return everyRecord
      ? keysOf(
          db,
          'SELECT DISTINCT wanted.key FROM unnest($1::bigint[]) AS wanted(key) JOIN "$data" ON "$seq" = wanted.key ORDER BY 1 LIMIT $2',
          wanted,
          limit,
        )
      : keysOf(
          db,
          `SELECT DISTINCT wanted.record AS key
           FROM unnest($1::integer[]) AS targets(target) CROSS JOIN unnest($2::bigint[]) AS wanted(record)
           CROSS JOIN LATERAL (
             SELECT state, blocked FROM "$todo" AS known
             WHERE known.target = targets.target AND known.record = wanted.record LIMIT 1
           ) AS todo
           WHERE ($3::smallint IS NULL OR state = $3) AND NOT ($4 AND blocked) ORDER BY 1 LIMIT $5`,
          targets,
          wanted,
          state === null ? null : TODO_STATES[state],
          ready,
          limit,
        )
  }
  if (everyRecord) {
    return keysOf(db, 'SELECT "$seq" AS key FROM "$data" WHERE "$seq" > $1 ORDER BY 1 LIMIT $2', from, limit)
  }
  return todoKeys(db, { targets, state, ready, from, limit })
}

/** Returns the keys of the next records with a pending cell of the targets, or with a cell in a state. */
function todoKeys(
  db: Connection,
  query: {
    targets: readonly number[]
    state: WorkState | null
    ready: boolean
    from: RecordKey
    limit: number
  },
): Promise<RecordKey[]> {
  const { targets, state, ready, from, limit } = query
  // A failed cell is found by its failure. The conditions avoid scanning many missing cells to find that none is stale, or
  // many blocked ones to find that none is ready.
  const counted = [
    ...(state === null ? [] : [`${state} > 0`]),
    ...(ready ? ['missing + stale + failed > blocked'] : []),
  ]
  const conditions = [
    'target = wanted.id AND record > $2',
    ...(state === null ? [] : [`state = ${TODO_STATES[state]}`]),
    ...(ready ? ['NOT blocked'] : []),
    ...(counted.length === 0
      ? []
      : [`EXISTS (SELECT FROM "$target" WHERE id = wanted.id AND ${counted.join(' AND ')})`]),
  ]
  const source =
    state === 'failed' && !ready
      ? 'SELECT record FROM "$failure" WHERE target = wanted.id AND record > $2'
      : `SELECT record FROM "$todo" WHERE ${conditions.join(' AND ')}`
  return keysOf(
    db,
    `SELECT DISTINCT record AS key FROM unnest($1::integer[]) AS wanted(id)
     CROSS JOIN LATERAL (${source} ORDER BY record LIMIT $3) AS next ORDER BY 1 LIMIT $3`,
    targets,
    from,
    limit,
  )
}

async function keysOf(db: Connection, sql: string, ...params: readonly SqlInput[]): Promise<RecordKey[]> {
  return (await db.all(sql, ...params)).map((row) => Number(row['key']))
}

/**
 * Returns a statement for records with their inputs and the state of each target's cell. Target ids are those of the store.
 */
function itemStatement(
  inputs: readonly WorkInput[],
  targets: readonly number[],
  { failures = false, isLong }: Pick<WorkQuery, 'failures'> & { readonly isLong: boolean },
): string {
  const sources = inputs.flatMap(({ target }) => target ?? [])
  const columns = [
    'data."$seq"',
    ...valueColumns(inputs, isLong),
    ...sources.flatMap((id) => [
      `input${id}.state AS "$pending${id}"`,
      `input${id}.blocked AS "$stopped${id}"`,
    ]),
    ...targets.flatMap((_, index) => [
      `encode(cell${index}.hash, 'hex') AS "$hash${index}"`,
      `cell${index}.mark AS "$cell${index}"`,
      `todo${index}.state AS "$state${index}"`,
      `todo${index}.mark AS "$todo${index}"`,
      `todo${index}.blocked AS "$blocked${index}"`,
      ...(failures
        ? [
            `failure${index}.at AS "$failed_at${index}"`,
            `encode(failure${index}.hash, 'hex') AS "$failed_hash${index}"`,
          ]
        : []),
    ]),
  ]
  return `SELECT ${columns.join(', ')} FROM unnest($1::bigint[]) AS wanted("$key") JOIN "$data" AS data ON data."$seq" = wanted."$key" ${cellJoins(inputs, targets, failures)} ORDER BY data."$seq"`
}

/** Returns the columns of the inputs. */
function valueColumns(inputs: readonly WorkInput[], isLong: boolean): string[] {
  const fields = inputs.map(({ field }) => field).filter(({ name }) => name !== 'id')
  if (isLong) return ['data.id', ...columnsUnlessLong(fields, LONG_VALUE_BYTES)]
  return ['id', ...columnsOf(fields)].map((name) => `data.${quoted(name)}`)
}

function workItem(
  row: StoredRow,
  inputs: readonly WorkInput[],
  { targets, changed }: { readonly targets: readonly string[]; readonly changed: readonly number[] },
): WorkItem {
  const values = Object.create(null) as Record<string, JsonValue>
  const pending = Object.create(null) as Record<string, PendingInput>
  const fields = inputs.map(({ field }) => field)
  const long = new Set(longFieldsOf(row, fields))
  for (const { field, target } of inputs) {
    values[field.name] = long.has(field) || fieldValue(field, row)
    const state =
      target === null ? undefined : pendingInput(row[`$pending${target}`], row[`$stopped${target}`])
    if (state !== undefined) pending[field.name] = state
  }
  return {
    key: Number(row['$seq']),
    id: String(row['id']),
    inputs: values,
    pending,
    cells: targets.map((target, index) => workCell(target, cellColumns(row, index), changed[index] ?? 0)),
  }
}

function cellColumns(row: StoredRow, index: number): CellColumns {
  return [
    row[`$hash${index}`],
    row[`$cell${index}`],
    row[`$state${index}`],
    row[`$todo${index}`],
    row[`$blocked${index}`],
    row[`$failed_at${index}`],
    row[`$failed_hash${index}`],
  ]
}
