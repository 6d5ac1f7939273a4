import type { StatementSync } from 'node:sqlite'
import type { JsonObject } from '../../../contract/json/json.ts'
import type { Upsert, UpsertResult, UpsertTrial } from '../../sheet-store.ts'
import { readBody } from '../../rules/upsert-body.ts'
import { memberOf } from '../../sheet-files/import-lines.ts'
import { idOf, UpsertJudge, type RecordWrite, type RecordWriter } from '../../rules/upsert-validation.ts'
import { markWritten, UpsertTally } from '../../rules/upsert-counts.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { checkVersion } from '../../rules/check-version.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { NewRecords } from '../changes/new-records.ts'
import { quoted } from '../database/schema.ts'
import { holdersIn } from '../changes/unique-holders.ts'
import { fromColumn, isStored, toColumn } from '../database/values.ts'
import { versionOf } from '../database/version-of.ts'

/**
 * Inserts or merges records (D13). Goes through the whole batch before it gives up, so that every fault is told at
 * once; the caller takes everything back when this throws. Throws ValidationError and PermissionDeniedError, and before
 * these PreconditionFailedError: whoever has not seen the record as it is need not hear what is wrong with the change.
 */
export function upsert(change: ChangeSet, request: Upsert): UpsertResult {
  const { records, actor } = readBody(request)
  const id = idOf(records[0] ?? {})
  // A record without an id has a fault at any rate.
  if (id !== null) checkVersion(id, request.ifMatch, (of) => versionOf(change.db, of))
  return writeRecords(change, records, { actor, proposal: null, anyField: false })
}

/** What {@link upsert} would do, with faults as part of the answer. The caller takes everything back. */
export function tryUpsert(change: ChangeSet, request: Upsert): UpsertTrial {
  const { records, actor } = readBody(request)
  const batch = new UpsertBatch(change, { actor, proposal: null, anyField: false })
  batch.addAll(records)
  return batch.trial()
}

/** The same for records that are known to be objects. */
export function writeRecords(
  change: ChangeSet,
  records: readonly JsonObject[],
  writer: RecordWriter,
): UpsertResult {
  const batch = new UpsertBatch(change, writer)
  batch.addAll(records)
  return batch.finish()
}

/** How many records make it worth to ask for their ids together. */
const ASKED_TOGETHER = 64

class UpsertBatch {
  readonly #change: ChangeSet
  readonly #writer: RecordWriter
  readonly #selectRow: StatementSync
  readonly #new: NewRecords
  readonly #judge: UpsertJudge
  readonly #tally = new UpsertTally()
  /** The ids that records have, of those in the batch; null where nobody has asked. */
  #there: Set<string> | null = null

  constructor(change: ChangeSet, writer: RecordWriter) {
    this.#change = change
    this.#writer = writer
    this.#selectRow = change.db.prepare('SELECT * FROM "$data" WHERE id = ?')
    this.#new = new NewRecords(change)
    this.#judge = new UpsertJudge(change.contract, writer, (field) => change.cells.isDerived(field))
  }

  addAll(records: readonly JsonObject[]): void {
    // Where the first is new mostly all are: to ask for their ids together takes half the time.
    if (records.length >= ASKED_TOGETHER && this.#stored(records[0] ?? {}) === undefined) {
      this.#there = idsThere(this.#change.db, records)
    }
    records.forEach((record, position) => this.#add(record, position))
  }

  #add(record: JsonObject, position: number): void {
    const stored = this.#stored(record)
    const write = this.#judge.judge(
      record,
      position,
      stored === undefined ? null : (field, value) => isStored(field, value, stored[field.name]),
    )
    if (write === null) return
    if (stored === undefined) this.#insert(write)
    else this.#update(write, stored)
  }

  #stored(record: JsonObject): StoredRow | undefined {
    const id = idOf(record)
    if (id === null || this.#there?.has(id) === false) return undefined
    this.#new.flush()
    return this.#selectRow.get(id)
  }

  finish(): UpsertResult {
    this.#checkUnique()
    this.#judge.throwFaults()
    return this.#tally.result(this.#change.totalRecords())
  }

  /** What it came to, faults included. */
  trial(): UpsertTrial {
    this.#checkUnique()
    return this.#tally.trial(this.#judge)
  }

  #checkUnique(): void {
    this.#new.flush()
    this.#judge.refuse(this.#judge.claims.conflicts(holdersIn(this.#change.db)))
  }

  #insert(write: RecordWrite): void {
    const change = this.#change
    const { id, record, values } = write
    const key = change.newRecord()
    const seq = this.#log(key, write, null)
    this.#new.add({ record: key, seq, values, value: (field) => memberOf(record, field) })
    this.#there?.add(id)
    this.#tally.inserted(seq)
  }

  #update(write: RecordWrite, stored: StoredRow): void {
    const { record, fields } = write
    if (fields.length === 0) {
      this.#tally.updated(Number(stored['$version']), { changed: false })
      return
    }
    const change = this.#change
    const key = Number(stored['$seq'])
    const seq = this.#log(key, write, stored)
    this.#tally.updated(seq, { changed: true })
    const set = fields.map(({ name }) => `${quoted(name)} = ?`).join(', ')
    const values = fields.map(({ name }) => toColumn(memberOf(record, name)))
    change.db.run(`UPDATE "$data" SET "$version" = ?, ${set} WHERE "$seq" = ?`, seq, ...values, key)
    markWritten(change.cells, key, { write, seq })
  }

  #log(key: number, { id, record, fields }: RecordWrite, stored: StoredRow | null): number {
    return this.#change.logRecord(
      {
        actor: this.#writer.actor,
        proposal: this.#writer.proposal,
        source: 'write',
        recordId: id,
        fields,
        values: record,
        previous: stored === null ? null : (field) => fromColumn(field, stored[field.name]),
      },
      key,
    )
  }
}

/** Those ids of a batch that records have. */
function idsThere(db: Connection, records: readonly JsonObject[]): Set<string> {
  const rows = db.all(
    'SELECT data.id FROM json_each(?) AS sent CROSS JOIN "$data" AS data ON data.id = sent.value',
    JSON.stringify(records.map(idOf)),
  )
  return new Set(rows.map(({ id }) => String(id)))
}
