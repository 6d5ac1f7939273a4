import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonObject } from '../../../contract/json/json.ts'
import type { Upsert, UpsertResult, UpsertTrial } from '../../sheet-store.ts'
import type { UpsertBody } from '../../rules/upsert-body.ts'
import { memberOf } from '../../sheet-files/import-lines.ts'
import { idOf, UpsertJudge, type RecordWrite, type RecordWriter } from '../../rules/upsert-validation.ts'
import { markWritten, UpsertTally } from '../../rules/upsert-counts.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { checkVersion } from '../../rules/check-version.ts'
import type { StoredRecord } from '../changes/stored-record.ts'
import { readHolders } from '../changes/unique-holders.ts'
import { isStored } from '../database/values.ts'

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
  await load(change, records.slice(0, 1))
  const id = idOf(records[0] ?? {})
  // A record without an id has a fault at any rate.
  if (id !== null) checkVersion(id, ifMatch, (of) => change.records.versionOf(of))
  const batch = new UpsertBatch(change, { actor, proposal: null, anyField: false }, isLarge(records))
  await batch.addAll(records)
  return batch.finish()
}

/** Whether {@link upsert} writes records before it has gone through all, so that it must be an operation that may do anything. */
export function isLarge(records: readonly JsonObject[]): boolean {
  return records.length > RECORDS_AT_ONCE
}

/** What {@link upsert} would do; nothing is kept of it, and faults are part of the answer. */
export function tryUpsert(change: ChangeSet, { records, actor }: UpsertBody): Promise<UpsertTrial> {
  return change.tryOut(async (trial) => {
    const batch = new UpsertBatch(trial, { actor, proposal: null, anyField: false })
    await batch.addAll(records)
    return batch.trial()
  })
}

/** Reads what there is of some of the records that are sent, and of their cells. */
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
  const batch = new UpsertBatch(change, writer)
  await batch.addAll(records)
  return batch.finish()
}

/** Records that are loaded together, and of a larger batch written together. */
const RECORDS_AT_ONCE = 5000

/** Records that are gone through before others have their turn, beside those that take longer. */
const RECORDS_A_TURN = 200
const TURN_MS = 5

class UpsertBatch {
  readonly #change: ChangeSet
  readonly #writer: RecordWriter
  readonly #writesEarly: boolean
  readonly #judge: UpsertJudge
  readonly #tally = new UpsertTally()

  constructor(change: ChangeSet, writer: RecordWriter, writesEarly = false) {
    this.#change = change
    this.#writer = writer
    this.#writesEarly = writesEarly
    this.#judge = new UpsertJudge(change.contract, writer, (field) => change.cells.isDerived(field))
  }

  /** Between some of many records, requests that read have their turn. */
  async addAll(records: readonly JsonObject[]): Promise<void> {
    for (let start = 0; start < records.length; start += RECORDS_AT_ONCE) {
      if (start > 0) await this.#writeEarly()
      const some = records.slice(start, start + RECORDS_AT_ONCE)
      await load(this.#change, some)
      await this.#addSome(some, start)
    }
  }

  async #addSome(records: readonly JsonObject[], start: number): Promise<void> {
    let since = performance.now()
    for (const [index, record] of records.entries()) {
      if ((index > 0 && index % RECORDS_A_TURN === 0) || performance.now() - since > TURN_MS) {
        await nextTurn()
        since = performance.now()
      }
      this.#add(record, start + index)
    }
  }

  /** Writes what a large batch has come to so far, where its end cannot make that wrong: records may swap unique values. */
  async #writeEarly(): Promise<void> {
    if (!this.#writesEarly || !this.#judge.claims.isEmpty || this.#judge.hasFaults) return
    await this.#change.flush()
  }

  #add(record: JsonObject, position: number): void {
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
    return this.#tally.result(this.#change.totalRecords())
  }

  /** What it came to, faults included. */
  async trial(): Promise<UpsertTrial> {
    await this.#checkUnique()
    return this.#tally.trial(this.#judge)
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
    change.cells.created(key, (field) => memberOf(record, field), seq)
    this.#tally.inserted(seq)
  }

  #update(write: RecordWrite, stored: StoredRecord): void {
    const { record, fields } = write
    if (fields.length === 0) {
      this.#tally.updated(stored.version, { changed: false })
      return
    }
    const change = this.#change
    const { key } = stored
    const seq = this.#log(key, write, stored)
    this.#tally.updated(seq, { changed: true })
    const values = Object.fromEntries(fields.map(({ name }) => [name, memberOf(record, name)]))
    change.records.update(stored, values, seq)
    markWritten(change.cells, key, { write, seq })
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
