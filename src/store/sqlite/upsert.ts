import type { SQLInputValue } from 'node:sqlite'
import type { Contract } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Upsert, UpsertResult, UpsertTrial } from '../sheet-store.ts'
import { readBody } from '../upsert-body.ts'
import { memberOf } from '../import-lines.ts'
import { idOf, UpsertJudge, type RecordWrite, type RecordWriter } from '../upsert-judge.ts'
import { markWritten, UpsertTally } from '../upsert-tally.ts'
import type { ChangeSet } from './change-set.ts'
import { checkVersion } from '../check-version.ts'
import type { StoredRow } from './connection.ts'
import { quoted } from './schema.ts'
import { holdersIn } from './unique-holders.ts'
import { fromColumn, isStored, toColumn } from './values.ts'
import { versionOf } from './version-of.ts'

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
  records.forEach((record, position) => batch.add(record, position))
  return batch.trial()
}

/** The same for records that are known to be objects. */
export function writeRecords(
  change: ChangeSet,
  records: readonly JsonObject[],
  writer: RecordWriter,
): UpsertResult {
  const batch = new UpsertBatch(change, writer)
  records.forEach((record, position) => batch.add(record, position))
  return batch.finish()
}

class UpsertBatch {
  readonly #change: ChangeSet
  readonly #writer: RecordWriter
  readonly #statements: UpsertStatements
  readonly #judge: UpsertJudge
  readonly #tally = new UpsertTally()

  constructor(change: ChangeSet, writer: RecordWriter) {
    this.#change = change
    this.#writer = writer
    this.#statements = statementsOf(change.contract)
    this.#judge = new UpsertJudge(change.contract, writer, (field) => change.cells.isDerived(field))
  }

  add(record: JsonObject, position: number): void {
    const id = idOf(record)
    const stored = id === null ? undefined : this.#change.db.get(this.#statements.select, id)
    const write = this.#judge.judge(
      record,
      position,
      stored === undefined ? null : (field, value) => isStored(field, value, stored[field.name]),
    )
    if (write === null) return
    if (stored === undefined) this.#insert(write)
    else this.#update(write, stored)
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
    this.#judge.refuse(this.#judge.claims.conflicts(holdersIn(this.#change.db)))
  }

  #insert(write: RecordWrite): void {
    const change = this.#change
    const { record } = write
    const key = change.newRecord()
    const seq = this.#log(key, write, null)
    const row: SQLInputValue[] = [key, seq]
    for (const { name } of change.contract.fields) row.push(toColumn(memberOf(record, name)))
    change.db.run(this.#statements.insert, ...row)
    change.cells.created(key, (field) => memberOf(record, field) !== null, seq)
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

interface UpsertStatements {
  readonly select: string
  readonly insert: string
}

const STATEMENTS = new WeakMap<Contract, UpsertStatements>()

/** The statements that write records under a contract, made once. */
function statementsOf(contract: Contract): UpsertStatements {
  let statements = STATEMENTS.get(contract)
  if (statements === undefined) {
    const names = contract.fields.map((field) => quoted(field.name))
    statements = {
      select: 'SELECT * FROM "$data" WHERE id = ?',
      insert: `INSERT INTO "$data" ("$seq", "$version", ${names.join(', ')}) VALUES (?, ?${', ?'.repeat(names.length)})`,
    }
    STATEMENTS.set(contract, statements)
  }
  return statements
}
