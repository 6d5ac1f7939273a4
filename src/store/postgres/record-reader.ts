import type { Contract, Field } from '../../contract/contract.ts'
import type { RecordKey } from '../cell-work.ts'
import type { Page, PageQuery, StoreStatus, VersionedRecord } from '../sheet-store.ts'
import { keyAtPosition } from '../deleted-blocks.ts'
import { Batcher } from './batcher.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { KeptAnswers, STATE, type KeptAnswer } from './kept-answers.ts'
import { RECORD_JSON, recordJsonSource } from './record-json.ts'
import { canBeId } from './values.ts'
import { textOrNull } from '../stored-rows.ts'

/** Finds where a page at a position starts, in work that does not depend on how many records were deleted. */
const KEY_AT_POSITION = keyAtPosition('$1::bigint', '$2::bigint')

/** A page that takes no more than walking along the table. */
type PlainPage = Omit<PageQuery, 'filter' | 'sort'>

interface ReadStatements {
  /** The fields, for telling apart what is kept. */
  readonly name: string
  readonly page: string
  /** Finds records by their ids. */
  readonly records: Batcher<string, FoundAnswer | null>
}

/** An answer, and the state of the store that it is of. */
interface FoundAnswer {
  readonly answer: KeptAnswer
  readonly state: string
}

/** Records that are read with one statement, at most, since each may have 10 MiB. */
const RECORDS_AT_ONCE = 32

/** Ids that are looked up with one statement. */
const IDS_AT_ONCE = 10_000

/** Reads records as they are now, and how many cells are in which state. */
export class RecordReader {
  readonly #db: Database
  readonly #contract: () => Contract
  readonly #answers: KeptAnswers
  #statements = new WeakMap<readonly string[], ReadStatements>()

  /** `contract` is asked for the one that the store follows now. */
  constructor(db: Database, contract: () => Contract) {
    this.#db = db
    this.#contract = contract
    this.#answers = new KeptAnswers(db)
  }

  /** Follows a new contract. */
  refresh(): void {
    this.#statements = new WeakMap()
    this.#answers.clear()
  }

  async record(id: string, fields: readonly string[]): Promise<VersionedRecord | null> {
    if (!canBeId(id)) return null
    const { name, records } = this.#statementsOf(fields)
    return this.#answers.get(`record ${name} ${id}`, () => records.ask(id))
  }

  /** What there is of records with these ids, in their order. */
  async #records(sql: string, ids: readonly string[]): Promise<readonly (FoundAnswer | null)[]> {
    const rows = await this.#db.all(sql, ids)
    const found = new Map(
      rows.map((row) => {
        const json = Buffer.from(String(row['json']))
        const answer = { json, version: String(row['version']), last: null }
        return [String(row['$id']), { answer, state: String(row['$state']) }]
      }),
    )
    return ids.map((id) => found.get(id) ?? null)
  }

  async page(query: PlainPage): Promise<Page> {
    const { fields, limit, skip, after } = query
    const from = after?.key ?? 0
    if (skip > 0) {
      const { answer } = await this.#db.reading(async (db) =>
        this.#page(db, query, Number((await db.get(KEY_AT_POSITION, from, skip))?.['key'])),
      )
      return pageOf(answer)
    }
    const key = `page ${this.#statementsOf(fields).name} ${limit} ${from}`
    return pageOf(await this.#answers.get(key, () => this.#page(this.#db, query, from)))
  }

  async #page(db: Connection, { fields, limit }: PlainPage, from: RecordKey): Promise<FoundAnswer> {
    const row = await db.get(this.#statementsOf(fields).page, from, limit)
    const last = row?.['$more'] === true ? Number(row['$last']) : null
    const json = Buffer.from(String(row?.['$page']))
    return { answer: { json, version: '', last }, state: String(row?.['$state']) }
  }

  /** The statements that answer with these fields, made once for a list of fields. */
  #statementsOf(fields: readonly string[]): ReadStatements {
    let statements = this.#statements.get(fields)
    if (statements === undefined) {
      const { record, ...others } = statementsOf(this.#fields(fields))
      statements = { ...others, records: new Batcher((ids) => this.#records(record, ids), RECORDS_AT_ONCE) }
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

function statementsOf(
  fields: readonly Field[],
): Pick<ReadStatements, 'name' | 'page'> & { readonly record: string } {
  const source = recordJsonSource(fields, 'data')
  return {
    name: fields.map(({ name }) => name).join(),
    record: `SELECT data.id AS "$id", ${RECORD_JSON} AS json, "$version" AS version, ${STATE} AS "$state"
      FROM "$data" AS data ${source} WHERE data.id = ANY($1::text[])`,
    // Names that are no field's: a field named as one of these would be taken for it. Whether more come is told by the last
    // key of all: with EXISTS, PostgreSQL would go through the table in search of a key beyond one that it does not know.
    page: `SELECT "$page", "$last", "$last" < (SELECT max("$seq") FROM "$data") AS "$more", ${STATE} AS "$state" FROM (
      SELECT '[' || coalesce(string_agg("$record", ',' ORDER BY "$key"), '') || ']' AS "$page", max("$key") AS "$last" FROM (
        SELECT data."$seq" AS "$key", ${RECORD_JSON} AS "$record"
        FROM (SELECT * FROM "$data" WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2) AS data ${source}) AS "$records") AS "$pages"`,
  }
}

function pageOf(answer: KeptAnswer | null): Page {
  if (answer === null) throw new Error('a page was read and not answered with')
  const { json, last } = answer
  return { records: json, next: last === null ? null : { key: last, values: [] } }
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
