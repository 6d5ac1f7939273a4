import type { Contract, Field } from '../../contract/contract.ts'
import type { Page, PageQuery, RecordKey, StoreStatus, VersionedRecord } from '../sheet-store.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { RECORD_JSON, recordJsonSource } from './record-json.ts'
import { canBeId, textOrNull } from './values.ts'

/** A page that takes no more than walking along the table. */
type PlainPage = Omit<PageQuery, 'filter' | 'sort'>

interface ReadStatements {
  readonly record: string
  readonly page: string
}

/** Ids that are looked up with one statement. */
const IDS_AT_ONCE = 10_000

/** Reads records as they are now, and how many cells are in which state. */
export class RecordReader {
  readonly #db: Database
  readonly #contract: () => Contract
  #statements = new WeakMap<readonly string[], ReadStatements>()

  /** `contract` is asked for the one that the store follows now. */
  constructor(db: Database, contract: () => Contract) {
    this.#db = db
    this.#contract = contract
  }

  /** Follows a new contract. */
  refresh(): void {
    this.#statements = new WeakMap()
  }

  async record(id: string, fields: readonly string[]): Promise<VersionedRecord | null> {
    if (!canBeId(id)) return null
    const row = await this.#db.get(this.#statementsOf(fields).record, id)
    if (row === undefined) return null
    return { json: Buffer.from(String(row['json'])), version: String(row['version']) }
  }

  async page(query: PlainPage): Promise<Page> {
    const { skip, after } = query
    const from = after?.key ?? 0
    if (skip === 0) return this.#page(this.#db, query, from)
    return this.#db.reading(async (db) => this.#page(db, query, await passOver(db, from, skip)))
  }

  async #page(db: Connection, { fields, limit }: PlainPage, from: RecordKey): Promise<Page> {
    const row = await db.get(this.#statementsOf(fields).page, from, limit)
    const next = row?.['$more'] === true ? { key: Number(row['$last']), values: [] } : null
    return { records: Buffer.from(String(row?.['$page'])), next }
  }

  /** The statements that answer with these fields, made once for a list of fields. */
  #statementsOf(fields: readonly string[]): ReadStatements {
    let statements = this.#statements.get(fields)
    if (statements === undefined) {
      statements = statementsOf(this.#fields(fields))
      this.#statements.set(fields, statements)
    }
    return statements
  }

  #fields(names: readonly string[]): Field[] {
    const { fieldByName } = this.#contract()
    return names.map((name) => {
      const field = fieldByName.get(name)
      if (field === undefined) throw new Error(`no field ${name}`)
      return field
    })
  }

  /** The keys of those of the ids that exist, in the order of the ids. */
  async keys(ids: readonly string[]): Promise<Map<string, RecordKey>> {
    const keys = new Map<string, RecordKey>()
    for (let start = 0; start < ids.length; start += IDS_AT_ONCE) {
      const asked = ids.slice(start, start + IDS_AT_ONCE)
      const sql =
        'SELECT data.id, data."$seq" AS key FROM unnest($1::text[]) AS asked(id) JOIN "$data" AS data ON data.id = asked.id'
      const rows = await this.#db.all(sql, asked.filter(canBeId))
      const found = new Map(rows.map((row) => [String(row['id']), Number(row['key'])]))
      for (const id of asked) {
        const key = found.get(id)
        if (key !== undefined) keys.set(id, key)
      }
    }
    return keys
  }

  status(): Promise<StoreStatus> {
    return this.#db.reading(readStatus)
  }
}

function statementsOf(fields: readonly Field[]): ReadStatements {
  const source = recordJsonSource(fields, 'data')
  return {
    record: `SELECT ${RECORD_JSON} AS json, "$version" AS version FROM "$data" AS data ${source} WHERE data.id = $1`,
    // Names that are no field's: a field named as one of these would be taken for it.
    page: `SELECT "$page", "$last", EXISTS (SELECT FROM "$data" WHERE "$seq" > "$last") AS "$more" FROM (
      SELECT '[' || coalesce(string_agg("$record", ',' ORDER BY "$key"), '') || ']' AS "$page", max("$key") AS "$last" FROM (
        SELECT data."$seq" AS "$key", ${RECORD_JSON} AS "$record"
        FROM (SELECT * FROM "$data" WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2) AS data ${source}) AS "$records") AS "$pages"`,
  }
}

/**
 * The key of the record that comes so many records after another, or one below that of the next. Nothing is passed over
 * for it: keys are given out one after the other, so those of deleted records are all that is missing between.
 */
async function passOver(db: Connection, from: RecordKey, skip: number): Promise<RecordKey> {
  const sql = 'SELECT count(*) AS count FROM "$deleted" WHERE record > $1 AND record <= $2'
  let key = from + skip
  for (let before = from; before !== key;) {
    before = key
    key = from + skip + Number((await db.get(sql, from, key))?.['count'])
  }
  return key
}

async function readStatus(db: Connection): Promise<StoreStatus> {
  const sheet = await db.get('SELECT records, last_record FROM "$sheet"')
  const total = Number(sheet?.['records'])
  const rows = await db.all(
    `SELECT field, missing, stale, failed, overridden, last_at, last_actor, last_error
     FROM "$target" WHERE active ORDER BY id`,
  )
  const targets = rows.map((row) => {
    const [missing, stale, failed, overridden] = ['missing', 'stale', 'failed', 'overridden'].map((counter) =>
      Number(row[counter]),
    ) as [number, number, number, number]
    return {
      field: String(row['field']),
      fresh: total - missing - stale - failed - overridden,
      stale,
      missing,
      failed,
      overridden,
      lastAt: textOrNull(row['last_at']),
      lastActor: textOrNull(row['last_actor']),
      lastError: failed > 0 ? textOrNull(row['last_error']) : null,
    }
  })
  return { total, lastKey: Number(sheet?.['last_record']), targets }
}
