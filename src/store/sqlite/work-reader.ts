import type { SQLInputValue } from 'node:sqlite'
import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { RecordKey, WorkItem, WorkQuery } from '../cell-work.ts'
import type { WorkState } from '../sheet-store.ts'
import type { Connection, StoredTuple } from './connection.ts'
import { quoted } from './schema.ts'
import { fromColumn } from './values.ts'
import { TODO_STATES, workCell } from '../stored-rows.ts'

/** Finds what a run has to do, and reads what that takes. */
export class WorkReader {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /** The next records with work. To be called in a transaction: marks and inputs must be of one state of the store. */
  read(query: WorkQuery, contract: Contract): WorkItem[] {
    const targets = this.#targetIds(query.targets)
    const inputs = query.inputs
      .map((name) => contract.fieldByName.get(name))
      .filter((field) => field !== undefined)
    const keys = this.#workKeys(query, [...targets.values()])
    return this.#db
      .tuples(itemsStatement(inputs, [...targets.values()]), JSON.stringify(keys))
      .map((row) => workItem(row, inputs, query.targets))
  }

  #targetIds(fields: readonly string[]): Map<string, number> {
    const all = new Map(
      this.#db
        .all('SELECT id, field FROM "$target"')
        .map((row) => [String(row['field']), Number(row['id'])] as const),
    )
    return new Map(fields.map((field) => [field, all.get(field) ?? 0]))
  }

  #workKeys({ force, state, after, limit, only }: WorkQuery, targets: readonly number[]): RecordKey[] {
    const from = after ?? 0
    const everyRecord = force && state === null
    if (only !== null) {
      const wanted = (key: RecordKey): boolean =>
        key > from && (everyRecord ? this.#exists(key) : this.#hasWork(key, targets, state))
      return only.values().filter(wanted).take(limit).toArray()
    }
    if (everyRecord) {
      return this.#keys('SELECT "$seq" FROM "$data" WHERE "$seq" > ? ORDER BY "$seq" LIMIT ?', from, limit)
    }
    const perTarget = targets.flatMap((target) => this.#todoKeys(target, state, { from, limit }))
    return [...new Set(perTarget)].toSorted((a, b) => a - b).slice(0, limit)
  }

  /** The next records whose cell of a target has work, or is in a state. */
  #todoKeys(
    target: number,
    state: WorkState | null,
    { from, limit }: { from: RecordKey; limit: number },
  ): RecordKey[] {
    const next = 'target = ? AND record > ? ORDER BY record LIMIT ?'
    if (state === null) {
      return this.#keys(`SELECT record FROM "$todo" WHERE ${next}`, target, from, limit)
    }
    if (state === 'failed') {
      return this.#keys(`SELECT record FROM "$failure" WHERE ${next}`, target, from, limit)
    }
    // Many missing cells need not be gone through to learn that none is stale.
    const counted = this.#db.get(`SELECT ${state} AS cells FROM "$target" WHERE id = ?`, target)
    if (counted === undefined || counted['cells'] === 0) return []
    const sql = `SELECT record FROM "$todo" WHERE state = ${TODO_STATES[state]} AND ${next}`
    return this.#keys(sql, target, from, limit)
  }

  #keys(sql: string, ...params: SQLInputValue[]): RecordKey[] {
    return this.#db.tuples(sql, ...params).map(([key]) => Number(key))
  }

  #exists(key: RecordKey): boolean {
    return this.#db.get('SELECT 1 FROM "$data" WHERE "$seq" = ?', key) !== undefined
  }

  #hasWork(key: RecordKey, targets: readonly number[], state: WorkState | null): boolean {
    return targets.some((target) => {
      const todo = this.#db.get('SELECT state FROM "$todo" WHERE target = ? AND record = ?', target, key)
      return todo !== undefined && (state === null || todo['state'] === TODO_STATES[state])
    })
  }
}

/**
 * Records of a list of keys, in their order, each with its inputs and the state of each target's cell in one row. Target ids
 * are the store's own numbers.
 */
function itemsStatement(inputs: readonly Field[], targets: readonly number[]): string {
  const columns = [
    'data."$seq"',
    'data.id',
    ...inputs.map(({ name }) => `data.${quoted(name)}`),
    ...targets.flatMap((_, index) => [
      `nullif(lower(hex(cell${index}.hash)), '')`,
      `cell${index}.mark`,
      `todo${index}.state`,
      `todo${index}.mark`,
    ]),
  ]
  const joins = targets.map(
    (id, index) =>
      `LEFT JOIN "$cell" AS cell${index} ON cell${index}.target = ${id} AND cell${index}.record = data."$seq"
       LEFT JOIN "$todo" AS todo${index} ON todo${index}.target = ${id} AND todo${index}.record = data."$seq"`,
  )
  return `SELECT ${columns.join(', ')} FROM "$data" AS data ${joins.join(' ')} 
    WHERE data."$seq" IN (SELECT value FROM json_each(?)) ORDER BY data."$seq"`
}

/** A row of {@link itemsStatement}. */
function workItem(row: StoredTuple, inputs: readonly Field[], targets: readonly string[]): WorkItem {
  const values = Object.create(null) as Record<string, JsonValue>
  const [key, id] = row
  let at = 2
  for (const field of inputs) values[field.name] = fromColumn(field, row[at++])
  const cells = targets.map((target) => workCell(target, [row[at++], row[at++], row[at++], row[at++]]))
  return { key: Number(key), id: String(id), inputs: values, cells }
}
