import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { RecordKey } from '../../cell-work.ts'
import { countAllDeleted } from '../../rows/deleted-blocks.ts'
import type { ClientConnection, StoredValue } from '../database/connection.ts'
import { copyRows, WORTH_COPYING } from '../database/copy-into.ts'
import { jsonArrays } from '../database/json-arrays.ts'
import { quoted, recordset } from '../database/schema.ts'
import { RecordUnderChange } from './stored-record.ts'
import { columnsOf } from '../database/columns.ts'
import { runOrNull, type WrittenRow } from '../../rows/written-values.ts'
import type { PresentWriters } from '../../rules/written/present-writers.ts'
import { canBeId, toColumns, toColumnTexts } from '../database/values.ts'

/** The most records that are read by a prepared plan: one for a small sheet reads all rows of `$written` for each of them. */
const FEW = 64

const COUNT_DELETED = countAllDeleted('unnest($1::bigint[]) AS gone(key)')

/** The id of a deleted record, and the seq of its deletion. */
export interface DeletedRecord {
  readonly id: string
  readonly seq: number
}

/** The records within a transaction after its operations so far; read and written many at a time. */
export class KnownRecords {
  readonly #db: ClientConnection
  readonly #contract: Contract
  readonly #writers: PresentWriters
  /** Null for an id without a record. */
  readonly #byId = new Map<string, RecordUnderChange | null>()
  readonly #byKey = new Map<RecordKey, RecordUnderChange | null>()
  readonly #created = new Map<RecordKey, RecordUnderChange>()
  readonly #updated = new Map<RecordKey, RecordUnderChange>()
  readonly #deleted = new Map<RecordKey, DeletedRecord>()

  /** `writers` receives the writers of the present values of records that are read. */
  constructor(db: ClientConnection, contract: Contract, writers: PresentWriters) {
    this.#db = db
    this.#contract = contract
    this.#writers = writers
  }

  get fields(): readonly Field[] {
    return this.#contract.fields
  }

  /** Reads the records with these ids. */
  async load(ids: readonly string[]): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.#byId.has(id))
    const wanted = unknown.filter(canBeId)
    for (const id of unknown) this.#byId.set(id, null)
    if (wanted.length > 0) await this.#read('unnest($1::text[]) AS wanted(id) ON data.id = wanted.id', wanted)
  }

  /** Reads the records with these keys. */
  async loadKeys(keys: readonly RecordKey[]): Promise<void> {
    const wanted = [...new Set(keys)].filter((key) => !this.#byKey.has(key))
    for (const key of wanted) this.#byKey.set(key, null)
    if (wanted.length > 0)
      await this.#read('unnest($1::bigint[]) AS wanted(key) ON data."$seq" = wanted.key', wanted)
  }

  async #read(wanted: string, values: readonly string[] | readonly number[]): Promise<void> {
    const columns = ['$seq', '$version', ...columnsOf(this.#contract.fields)].map(
      (name) => `data.${quoted(name)}`,
    )
    const sql = `SELECT ${columns.join(', ')}, ${WRITERS_OF_RECORD} FROM "$data" AS data JOIN ${wanted}`
    const rows = values.length > FEW ? this.#db.plannedAnew(sql, values) : this.#db.all(sql, values)
    for (const row of await rows) {
      // A record that is known by its other identifier may have been changed since.
      if (this.#byKey.get(Number(row['$seq'])) || this.#deleted.has(Number(row['$seq']))) continue
      const record = RecordUnderChange.stored(row)
      this.#writers.add(writtenRowsOf(record.key, row['$writers']))
      this.#byId.set(record.id, record)
      this.#byKey.set(record.key, record)
    }
  }

  /** Returns the record with this id, which must have been loaded; null when there is none. */
  byId(id: string): RecordUnderChange | null {
    return loaded(this.#byId.get(id))
  }

  /** Returns the record with this key, which must have been loaded; null when there is none. */
  byKey(key: RecordKey): RecordUnderChange | null {
    return loaded(this.#byKey.get(key))
  }

  /** Sets a record that an operation has created or changed. */
  put(record: RecordUnderChange): void {
    this.#byId.set(record.id, record)
    this.#byKey.set(record.key, record)
    if (record.isNew) this.#created.set(record.key, record)
    else this.#updated.set(record.key, record)
  }

  /** Removes a record that an operation has deleted. */
  remove(key: RecordKey, deleted: DeletedRecord): void {
    const { id } = deleted
    if (this.#byId.get(id)?.key === key) this.#byId.set(id, null)
    this.#byKey.set(key, null)
    this.#updated.delete(key)
    this.#created.delete(key)
    this.#deleted.set(key, deleted)
  }

  /** Writes the changes into the tables. */
  async flush(): Promise<void> {
    if (this.#deleted.size > 0) await this.#writeDeleted()
    if (this.#updated.size > 0) await this.#writeUpdated()
    if (this.#created.size > 0) await this.#writeCreated()
  }

  async #writeDeleted(): Promise<void> {
    const [keys, gone] = [[...this.#deleted.keys()], [...this.#deleted.values()]]
    await this.#db.run(
      'DELETE FROM "$data" AS data USING unnest($1::bigint[]) AS gone(key) WHERE data."$seq" = gone.key',
      keys,
    )
    await this.#db.run(
      'INSERT INTO "$deleted" (record_id, record, seq) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])',
      gone.map(({ id }) => id),
      keys,
      gone.map(({ seq }) => seq),
    )
    await this.#db.run(COUNT_DELETED, keys)
    this.#deleted.clear()
  }

  async #writeUpdated(): Promise<void> {
    const records = [...this.#updated.values()]
    const fields = this.#contract.fields.filter(({ name }) =>
      records.some((record) => record.hasChanged(name)),
    )
    const set = ['$version', ...columnsOf(fields)].map(quoted).map((name) => `${name} = new.${name}`)
    for (const rows of jsonArrays(this.#rows(records, fields))) {
      await this.#db.run(
        `UPDATE "$data" AS data SET ${set.join(', ')}
         FROM json_to_recordset($1::json) AS new(${recordset(fields)}) WHERE data."$seq" = new."$seq"`,
        rows,
      )
    }
    this.#updated.clear()
    for (const record of records) record.settled()
  }

  async #writeCreated(): Promise<void> {
    const records = [...this.#created.values()]
    if (records.length >= WORTH_COPYING) await this.#copyCreated(records)
    else await this.#insertCreated(records)
    this.#created.clear()
    for (const record of records) record.settled()
  }

  async #copyCreated(records: readonly RecordUnderChange[]): Promise<void> {
    const { fields } = this.#contract
    const columns = ['$seq', '$version', ...columnsOf(fields)]
    const rows = records
      .values()
      .map((record) => [
        String(record.key),
        String(record.version),
        ...fields.flatMap((field) => toColumnTexts(field, record.value(field))),
      ])
    await copyRows(this.#db, { table: '$data', columns }, rows)
  }

  async #insertCreated(records: readonly RecordUnderChange[]): Promise<void> {
    const { fields } = this.#contract
    const columns = ['$seq', '$version', ...columnsOf(fields)].map(quoted).join(', ')
    for (const rows of jsonArrays(this.#rows(records, fields))) {
      await this.#db.run(
        `INSERT INTO "$data" (${columns})
         SELECT ${columns} FROM json_to_recordset($1::json) AS new(${recordset(fields)})`,
        rows,
      )
    }
  }

  /** Yields records as the objects of which {@link recordset} makes rows with these fields. */
  *#rows(records: readonly RecordUnderChange[], fields: readonly Field[]): Generator<JsonObject> {
    for (const record of records) {
      const row: Record<string, JsonValue> = {
        $seq: record.key,
        $version: record.version,
      }
      for (const field of fields)
        for (const [column, value] of toColumns(field, record.value(field))) row[column] = value
      yield row
    }
  }
}

/** The rows of `$written` of a record, as JSON; null for none. */
const WRITERS_OF_RECORD = `(
  SELECT json_agg(json_build_array(part, actor, run, fields))
  FROM "$written" AS written JOIN "$writer" AS writer ON writer.id = written.writer WHERE written.record = data."$seq"
) AS "$writers"`

function writtenRowsOf(record: RecordKey, json: StoredValue | undefined): readonly WrittenRow[] {
  if (typeof json !== 'string') return []
  const rows = JSON.parse(json) as readonly [number, string, number, number][]
  return rows.map(([part, actor, run, fields]) => ({ record, part, actor, run: runOrNull(run), fields }))
}

function loaded(record: RecordUnderChange | null | undefined): RecordUnderChange | null {
  if (record === undefined) throw new Error('a record was asked for that is not loaded')
  return record
}
