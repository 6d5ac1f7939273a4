import type { JsonObject } from '../../contract/json.ts'
import type { Upsert, UpsertResult, UpsertTrial } from '../sheet-store.ts'
import type { UpsertBody } from '../upsert-body.ts'
import { memberOf } from '../import-lines.ts'
import { idOf, UpsertJudge, type RecordWrite, type RecordWriter } from '../upsert-judge.ts'
import type { ChangeSet } from './change-set.ts'
import { checkVersion } from './check-version.ts'
import type { StoredRecord } from './stored-record.ts'
import { readHolders } from './unique-holders.ts'
import { isStored } from './values.ts'

/**
 * Inserts or merges records (D13). Goes through the whole batch before it gives up, so that every fault is told at
 * once; nothing is kept when this throws. Throws ValidationError and PermissionDeniedError, and before
 * these PreconditionFailedError: whoever has not seen the record as it is need not hear what is wrong with the change.
 */
export async function upsert(
  change: ChangeSet,
  { records, actor }: UpsertBody,
  ifMatch: Upsert['ifMatch'],
): Promise<UpsertResult> {
  await load(change, records)
  const id = idOf(records[0] ?? {})
  // A record without an id has a fault at any rate.
  if (id !== null) checkVersion(change.records, id, ifMatch)
  return writeRecords(change, records, { actor, proposal: null, anyField: false })
}

/** What {@link upsert} would do; nothing is kept of it, and faults are part of the answer. */
export function tryUpsert(change: ChangeSet, { records, actor }: UpsertBody): Promise<UpsertTrial> {
  return change.tryOut(async (trial) => {
    await load(trial, records)
    const batch = new UpsertBatch(trial, { actor, proposal: null, anyField: false })
    records.forEach((record, position) => batch.add(record, position))
    return batch.trial()
  })
}

/** Reads what there is of the records that are sent, and of their cells. */
async function load(change: ChangeSet, records: readonly JsonObject[]): Promise<void> {
  const ids = idsOf(records)
  await change.records.load(ids)
  await change.cells.load(ids.map((id) => change.records.get(id)?.key).filter((key) => key !== undefined))
}

/** The same for records that are known to be objects. */
export async function writeRecords(
  change: ChangeSet,
  records: readonly JsonObject[],
  writer: RecordWriter,
): Promise<UpsertResult> {
  await load(change, records)
  const batch = new UpsertBatch(change, writer)
  records.forEach((record, position) => batch.add(record, position))
  return batch.finish()
}

class UpsertBatch {
  readonly #change: ChangeSet
  readonly #writer: RecordWriter
  readonly #judge: UpsertJudge
  #inserted = 0
  #updated = 0
  #unchanged = 0
  /** Of the record that was last written. */
  #version = 0

  constructor(change: ChangeSet, writer: RecordWriter) {
    this.#change = change
    this.#writer = writer
    this.#judge = new UpsertJudge(change.contract, writer, (field) => change.cells.isDerived(field))
  }

  add(record: JsonObject, position: number): void {
    const id = idOf(record)
    const stored = id === null ? undefined : this.#change.records.get(id)
    const write = this.#judge.judge(
      record,
      position,
      stored === undefined ? null : (field, value) => isStored(value, stored.value(field)),
    )
    if (write === null) return
    if (stored === undefined) this.#insert(write)
    else this.#update(write, stored)
  }

  async finish(): Promise<UpsertResult> {
    await this.#checkUnique()
    this.#judge.throwFaults()
    const [inserted, updated] = [this.#inserted, this.#updated]
    const version = inserted + updated === 1 ? String(this.#version) : null
    return {
      inserted,
      updated,
      unchanged: this.#unchanged,
      total: this.#change.totalRecords(),
      version,
    }
  }

  /** What it came to, faults included. */
  async trial(): Promise<UpsertTrial> {
    await this.#checkUnique()
    return {
      inserted: this.#inserted,
      updated: this.#updated,
      unchanged: this.#unchanged,
      ...this.#judge.faults(),
    }
  }

  async #checkUnique(): Promise<void> {
    const { claims } = this.#judge
    if (claims.isEmpty) return
    await this.#change.flushEarlier()
    this.#judge.refuse(claims.conflicts(await readHolders(this.#change.db, claims)))
  }

  #insert(write: RecordWrite): void {
    const change = this.#change
    const { id, record } = write
    const key = change.newKey()
    const seq = this.#log(key, write, null)
    change.insert({ id, key, seq, value: (field) => memberOf(record, field.name) })
    change.cells.created(key, (field) => memberOf(record, field) !== null, seq)
    this.#inserted += 1
    this.#version = seq
  }

  #update(write: RecordWrite, stored: StoredRecord): void {
    const { record, fields } = write
    this.#updated += 1
    this.#version = stored.version
    if (fields.length === 0) {
      this.#unchanged += 1
      return
    }
    const change = this.#change
    const { key } = stored
    const seq = this.#log(key, write, stored)
    this.#version = seq
    const values = Object.fromEntries(fields.map(({ name }) => [name, memberOf(record, name)]))
    change.records.update(stored, values, seq)
    for (const field of fields) {
      const target = change.cells.target(field.name)
      if (target !== undefined) {
        change.cells.writtenByHand(target, key, { hasValue: memberOf(record, field.name) !== null, seq })
      }
      change.cells.inputWritten(field.name, key, seq)
    }
  }

  #log(key: number, { id, record, fields }: RecordWrite, stored: StoredRecord | null): number {
    return this.#change.logRecord(
      {
        actor: this.#writer.actor,
        proposal: this.#writer.proposal,
        source: 'write',
        recordId: id,
        fields,
        values: record,
        previous: stored === null ? null : (field) => stored.value(field),
      },
      key,
    )
  }
}

/** The ids that records from outside have. */
export function idsOf(records: readonly JsonObject[]): string[] {
  return [...new Set(records.map(idOf).filter((id) => id !== null))]
}
