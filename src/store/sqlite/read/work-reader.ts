import type { SQLInputValue } from 'node:sqlite'
import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { RecordKey, WorkItem, WorkQuery } from '../../cell-work.ts'
import type { PendingInput } from '../../../errors/block.ts'
import type { Connection, StoredTuple } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { fromColumn } from '../database/values.ts'
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
import { pendingInput, TODO_STATES, workCell } from '../../rows/stored-rows.ts'

/** Finds the pending cells of a run, and reads the inputs of their computations. */
export class WorkReader {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /**
   * Returns the next records with pending cells. Call it in a transaction: versions and inputs must be of one state of the
   * store.
   */
  read(query: WorkQuery, contract: Contract): WorkItem[] {
    const known = this.#targets()
    const targets = query.targets.map((field) => known.get(field)?.id ?? 0)
    const changed = query.targets.map((field) => known.get(field)?.changed ?? 0)
    const inputs = workInputs(query, contract, known)
    const { keys, tooLong } = this.#page(this.#workKeys(query, targets), inputs, query)
    return this.#db
      .tuples(itemsStatement(inputs, targets, { ...query, isLong: tooLong !== null }), JSON.stringify(keys))
      .map((row) => ({
        ...workItem(row, inputs, { ...query, changed }),
        ...(tooLong !== null && { tooLong }),
      }))
  }

  /** Returns the first records, as many as are read at once. */
  #page(keys: readonly RecordKey[], inputs: readonly WorkInput[], { inputLimit }: WorkQuery): InputPage {
    const { text, json } = longFields(inputs.map(({ field }) => field))
    if (inputLimit === undefined || text.length + json.length === 0) return { keys, tooLong: null }
    const sql = `SELECT "$seq", ${octets(text)}, ${octets(json)} FROM "$data"
      WHERE "$seq" IN (SELECT value FROM json_each(?)) ORDER BY "$seq"`
    const rows = this.#db.tuples(sql, JSON.stringify(keys))
    const sized = rows.map((row) => ({ key: Number(row[0]), text: Number(row[1]), json: Number(row[2]) }))
    return inputPage(sized, inputLimit)
  }

  #targets(): TargetIds {
    return new Map(
      this.#db.all('SELECT id, field, active, changed FROM "$target"').map((row) => {
        const id = Number(row['id'])
        return [
          String(row['field']),
          { id, activeId: row['active'] === 1 ? id : null, changed: Number(row['changed']) },
        ] as const
      }),
    )
  }

  #workKeys(query: WorkQuery, targets: readonly number[]): RecordKey[] {
    const { force, state, after, limit, only } = query
    const from = after ?? 0
    const everyRecord = force && state === null
    if (only !== null) {
      const wanted = (key: RecordKey): boolean =>
        key > from && (everyRecord ? this.#exists(key) : this.#hasWork(key, targets, query))
      return only.values().filter(wanted).take(limit).toArray()
    }
    if (everyRecord) {
      return this.#keys('SELECT "$seq" FROM "$data" WHERE "$seq" > ? ORDER BY "$seq" LIMIT ?', from, limit)
    }
    const perTarget = targets.flatMap((target) => this.#todoKeys(target, query, from))
    return [...new Set(perTarget)].toSorted((a, b) => a - b).slice(0, limit)
  }

  /** Returns the keys of the next records whose cell of a target is pending, or in a state. */
  #todoKeys(target: number, { state, ready = false, limit }: WorkQuery, from: RecordKey): RecordKey[] {
    // Avoids scanning many missing cells to find that none is stale, or many blocked ones to find that none is ready.
    const cells = state ?? 'missing + stale + failed'
    const counted = this.#db.get(
      `SELECT ${cells} AS cells, missing + stale + failed - blocked AS ready FROM "$target" WHERE id = ?`,
      target,
    )
    if (counted === undefined || counted['cells'] === 0 || (ready && counted['ready'] === 0)) return []
    const conditions = ['target = ? AND record > ?']
    if (state !== null) conditions.push(`state = ${TODO_STATES[state]}`)
    if (ready) conditions.push('NOT blocked')
    const next = 'ORDER BY record LIMIT ?'
    if (state === 'failed' && !ready) {
      const sql = `SELECT record FROM "$failure" WHERE target = ? AND record > ? ${next}`
      return this.#keys(sql, target, from, limit)
    }
    return this.#keys(
      `SELECT record FROM "$todo" WHERE ${conditions.join(' AND ')} ${next}`,
      target,
      from,
      limit,
    )
  }

  #keys(sql: string, ...params: SQLInputValue[]): RecordKey[] {
    return this.#db.tuples(sql, ...params).map(([key]) => Number(key))
  }

  #exists(key: RecordKey): boolean {
    return this.#db.get('SELECT 1 FROM "$data" WHERE "$seq" = ?', key) !== undefined
  }

  #hasWork(key: RecordKey, targets: readonly number[], { state, ready = false }: WorkQuery): boolean {
    return targets.some((target) => {
      const sql = 'SELECT state, blocked FROM "$todo" WHERE target = ? AND record = ?'
      const todo = this.#db.get(sql, target, key)
      if (todo === undefined || (ready && todo['blocked'] === 1)) return false
      return state === null || todo['state'] === TODO_STATES[state]
    })
  }
}

/**
 * Returns a statement for records of a list of keys, in their order, each with its inputs and the state of each target's
 * cell in one row. Target ids are those of the store.
 */
function itemsStatement(
  inputs: readonly WorkInput[],
  targets: readonly number[],
  { failures = false, isLong }: Pick<WorkQuery, 'failures'> & { readonly isLong: boolean },
): string {
  const sources = inputs.flatMap(({ target }) => target ?? [])
  const columns = [
    'data."$seq"',
    'data.id',
    ...inputs.map(({ field: { name } }) => column(`data.${quoted(name)}`, isLong)),
    ...sources.flatMap((id) => [`input${id}.state`, `input${id}.blocked`]),
    ...targets.flatMap((_, index) => [
      `nullif(lower(hex(cell${index}.hash)), '')`,
      `cell${index}.mark`,
      `todo${index}.state`,
      `todo${index}.mark`,
      `todo${index}.blocked`,
      ...(failures ? [`failure${index}.at`, `nullif(lower(hex(failure${index}.hash)), '')`] : []),
    ]),
  ]
  return `SELECT ${columns.join(', ')} FROM "$data" AS data ${cellJoins(inputs, targets, failures)}
    WHERE data."$seq" IN (SELECT value FROM json_each(?)) ORDER BY data."$seq"`
}

/** Returns a column, or a blob where its value is left out: no column holds one. */
function column(name: string, isLong: boolean): string {
  return isLong ? `iif(octet_length(${name}) >= ${LONG_VALUE_BYTES}, x'', ${name})` : name
}

/** Returns SQL for the bytes of the fields' values, which SQLite knows without reading them. */
function octets(fields: readonly Field[]): string {
  return ['0', ...fields.map(({ name }) => `coalesce(octet_length(${quoted(name)}), 0)`)].join(' + ')
}

/** Returns the item from a row of {@link itemsStatement}. */
function workItem(
  row: StoredTuple,
  inputs: readonly WorkInput[],
  { targets, failures = false, changed }: WorkQuery & { readonly changed: readonly number[] },
): WorkItem {
  const values = Object.create(null) as Record<string, JsonValue>
  const pending = Object.create(null) as Record<string, PendingInput>
  const [key, id] = row
  let at = 2
  for (const { field } of inputs) {
    const stored = row[at++]
    values[field.name] = stored instanceof Uint8Array || fromColumn(field, stored)
  }
  for (const { field, target } of inputs) {
    if (target === null) continue
    const state = pendingInput(row[at++], row[at++])
    if (state !== undefined) pending[field.name] = state
  }
  const cells = targets.map((target, index) => {
    const columns = [
      ...([row[at++], row[at++], row[at++], row[at++], row[at++]] as const),
      ...(failures ? ([row[at++], row[at++]] as const) : ([null, null] as const)),
    ] as const
    return workCell(target, columns, changed[index] ?? 0)
  })
  return {
    key: Number(key),
    id: String(id),
    inputs: values,
    pending,
    cells,
  }
}
