import type { Contract, Field } from '../../../contract/contract.ts'
import { knownFields } from '../../fields/known-field.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { Page, PageQuery, StoreStatus, VersionedRecord } from '../../sheet-store.ts'
import { PAGE_BYTES } from '../../page-bytes.ts'
import type { PresentRecords } from '../../revision-store.ts'
import { fittingRecords, recordWeight } from '../json/fitting-records.ts'
import { keyAtPosition } from '../../rows/deleted-blocks.ts'
import { Batcher } from '../database/batcher.ts'
import type { Connection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { CachedReads, type CachedRead } from './cached-reads.ts'
import { STATE } from './present-state.ts'
import { RECORD_JSON, recordJsonSource } from '../json/record-json.ts'
import { canBeId } from '../database/values.ts'
import { storedStatus } from '../../rows/stored-rows.ts'

/** Finds the start of a page at a position, at a cost that does not depend on the number of deleted records. */
const KEY_AT_POSITION = keyAtPosition('$1::bigint', '$2::bigint')

/** A page in creation order without a filter. */
type PlainPage = Omit<PageQuery, 'filter' | 'sort'>

interface ReadStatements {
  /** The key of the fields in the cache. */
  readonly name: string
  readonly page: string
  /** Reads records by their ids. */
  readonly records: Batcher<string, FoundRecord | null>
}

/** A record, and the state of the store that it is of. */
interface FoundRecord {
  /** Null for a record that is too large to be read together with others. */
  readonly json: Buffer | null
  readonly version: string
  readonly state: string
}

/** A response, and the state of the store that it is of. */
interface FoundRead {
  readonly result: CachedRead
  readonly state: string
}

/** The most records that one statement reads, and the most bytes of each. */
const RECORDS_AT_ONCE = 256
const RECORD_BYTES = 128 << 10

/** The most ids that one statement looks up. */
const IDS_AT_ONCE = 10_000

/** Reads present records, and counts cells by their state. */
export class RecordReader {
  readonly #db: Database
  readonly #contract: () => Contract
  readonly #cache: CachedReads
  #statements = new WeakMap<readonly string[], ReadStatements>()

  /** `contract` returns the contract that the store follows now. Cached records are those of `present`. */
  constructor(db: Database, contract: () => Contract, present: PresentRecords) {
    this.#db = db
    this.#contract = contract
    this.#cache = new CachedReads(present)
  }

  /** Discards what depends on the contract. */
  refresh(): void {
    this.#statements = new WeakMap()
    this.#cache.clear()
  }

  async record(id: string, fields: readonly string[]): Promise<VersionedRecord | null> {
    if (!canBeId(id)) return null
    const { name, records } = this.#statementsOf(fields)
    return this.#cache.get(`record ${name} ${id}`, async () => {
      const found = await records.run(id)
      if (found === null) return null
      const { json, version, state } = found
      return json === null ? this.#largeRecord(id, fields) : { result: { json, version, last: null }, state }
    })
  }

  /** Returns the records with these ids, in their order. */
  async #records(sql: string, ids: readonly string[]): Promise<readonly (FoundRecord | null)[]> {
    const rows = await this.#db.all(sql, ids)
    const found = new Map(
      rows.map((row) => {
        const json = row['json'] === null ? null : Buffer.from(String(row['json']))
        return [String(row['$id']), { json, version: String(row['version']), state: String(row['$state']) }]
      }),
    )
    return ids.map((id) => found.get(id) ?? null)
  }

  /** Reads a record that is too large to be read together with others. */
  #largeRecord(id: string, fields: readonly string[]): Promise<FoundRead | null> {
    return this.#db.reading(async (db) => {
      const row = await db.get(
        `SELECT "$seq" AS key, "$version" AS version, ${STATE} AS state FROM "$data" WHERE id = $1`,
        id,
      )
      if (row === undefined) return null
      const { records } = await fittingRecords(db, [Number(row['key'])], this.#fields(fields))
      const read = { json: records.subarray(1, -1), version: String(row['version']), last: null }
      return { result: read, state: String(row['state']) }
    })
  }

  async page(query: PlainPage): Promise<Page> {
    const { fields, limit, skip, after } = query
    const from = after?.key ?? 0
    if (skip > 0) {
      const read = await this.#db.reading(async (db) => {
        const start = Number((await db.get(KEY_AT_POSITION, from, skip))?.['key'])
        return ((await this.#page(db, query, start)) ?? (await this.#fittingPage(db, query, start))).result
      })
      return pageOf(read)
    }
    const key = `page ${this.#statementsOf(fields).name} ${limit} ${from}`
    return pageOf(
      await this.#cache.get(
        key,
        async () => (await this.#page(this.#db, query, from)) ?? this.#largePage(query, from),
      ),
    )
  }

  async #page(db: Connection, { fields, limit }: PlainPage, from: RecordKey): Promise<FoundRead | null> {
    const row = await db.get(this.#statementsOf(fields).page, from, limit)
    if (Number(row?.['$weight']) > PAGE_BYTES) return null
    const last = row?.['$more'] === true ? Number(row['$last']) : null
    const json = Buffer.from(String(row?.['$page']))
    return { result: { json, version: '', last }, state: String(row?.['$state']) }
  }

  /** Reads a page whose records may exceed the bytes of a page, and ends it before they do. */
  #largePage(query: PlainPage, from: RecordKey): Promise<FoundRead> {
    return this.#db.reading((db) => this.#fittingPage(db, query, from))
  }

  async #fittingPage(db: Connection, { fields, limit }: PlainPage, from: RecordKey): Promise<FoundRead> {
    const rows = await db.all(
      `SELECT "$seq" AS key, ${STATE} AS state FROM "$data" WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2`,
      from,
      limit + 1,
    )
    const keys = rows.map(({ key }) => Number(key))
    const { records, count } = await fittingRecords(db, keys.slice(0, limit), this.#fields(fields))
    const last = count < keys.length ? (keys[count - 1] ?? null) : null
    return { result: { json: records, version: '', last }, state: String(rows[0]?.['state']) }
  }

  /** Returns the statements for these fields, made once for a list of fields. */
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
    return knownFields(this.#contract(), names)
  }

  /** Returns the keys of the existing records with these ids, in the order of the ids. */
  async keys(ids: readonly string[]): Promise<Map<string, RecordKey>> {
    const keys = new Map<string, RecordKey>()
    for (let start = 0; start < ids.length; start += IDS_AT_ONCE) {
      const wanted = ids.slice(start, start + IDS_AT_ONCE)
      const sql =
        'SELECT data.id, data."$seq" AS key FROM unnest($1::text[]) AS wanted(id) JOIN "$data" AS data ON data.id = wanted.id'
      const rows = await this.#db.all(sql, wanted.filter(canBeId))
      const found = new Map(rows.map((row) => [String(row['id']), Number(row['key'])]))
      for (const id of wanted) {
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
    record: `SELECT data.id AS "$id", CASE WHEN ${recordWeight(fields, 'data')} <= ${RECORD_BYTES} THEN ${RECORD_JSON} END AS json, "$version" AS version, ${STATE} AS "$state"
      FROM "$data" AS data ${source} WHERE data.id = ANY($1::text[])`,
    // The aliases contain `$`, since a field could have any other name. No record is read where all together are too large.
    // Whether records follow is decided by comparison with the last key of all: with EXISTS, PostgreSQL would scan the
    // table for a key beyond one that it does not know.
    page: `SELECT "$weight", "$page", "$last", "$last" < (SELECT max("$seq") FROM "$data") AS "$more", ${STATE} AS "$state" FROM (
      SELECT coalesce(sum("$bytes"), 0)::bigint AS "$weight" FROM (
        SELECT ${recordWeight(fields, 'data')} AS "$bytes" FROM "$data" AS data WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2) AS "$sizes"
    ) AS "$weights" CROSS JOIN LATERAL (
      SELECT '[' || coalesce(string_agg("$record", ',' ORDER BY "$key"), '') || ']' AS "$page", max("$key") AS "$last" FROM (
        SELECT data."$seq" AS "$key", ${RECORD_JSON} AS "$record"
        FROM (SELECT * FROM "$data" WHERE "$seq" > $1 AND "$weight" <= ${PAGE_BYTES} ORDER BY "$seq" LIMIT $2) AS data ${source}) AS "$records") AS "$pages"`,
  }
}

function pageOf(read: CachedRead | null): Page {
  if (read === null) throw new Error('a page was read without a result')
  const { json, last } = read
  return { records: json, next: last === null ? null : { key: last, values: [] } }
}

async function readStatus(db: Connection): Promise<StoreStatus> {
  const sheet = await db.get('SELECT records, last_record, last_seq FROM "$sheet"')
  const targets = await db.all(
    `SELECT field, missing, stale, failed, overridden, blocked, blocked_stale, blocked_failed, last_at, last_actor, last_error
     FROM "$target" WHERE active ORDER BY id`,
  )
  return storedStatus(
    {
      total: Number(sheet?.['records']),
      lastKey: Number(sheet?.['last_record']),
      lastSeq: Number(sheet?.['last_seq']),
    },
    targets,
  )
}
