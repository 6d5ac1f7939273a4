import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { memberOf } from '../sheet-files/import-lines.ts'
import type { Upsert, UpsertResult, UpsertTrial } from '../sheet-store.ts'
import type { RunId } from '../stored-run.ts'
import { OperationError } from '../../errors/service-error.ts'
import { importGained } from '../rows/run-updates.ts'
import { checkAbsent, checkVersion } from './check-version.ts'
import { load, type Steps } from './steps.ts'
import { isStored, type StoreChange, type StoredRecord } from './store-change.ts'
import type { UpsertBody } from './upsert-body.ts'
import { idOf, UpsertValidator, type RecordWrite, type RecordWriter } from './upsert-validation.ts'

/**
 * Inserts or merges records (D13). Validates the whole batch before it throws, so that the message lists all violations:
 * PermissionDeniedError and ValidationError, and before these PreconditionFailedError, since a client that has not seen the
 * present version does not need them.
 */
export function* upsert(
  change: StoreChange,
  { records, actor }: UpsertBody,
  {
    ifMatch,
    ifAbsent = false,
    run = null,
    file = null,
  }: Pick<Upsert, 'ifMatch' | 'ifAbsent' | 'run' | 'file'>,
): Steps<UpsertResult> {
  const id = idOf(records[0] ?? {})
  // A record without an id is refused in any case.
  if (id !== null && ifMatch !== null) {
    yield* load(change.load([id]))
    checkVersion(id, ifMatch, change.records.get(id))
  }
  if (ifAbsent) {
    const ids = idsOf(records)
    yield* load(change.load(ids))
    for (const each of ids) checkAbsent(each, change.records.get(each))
  }
  const result = yield* writeRecords(change, records, {
    actor,
    proposal: null,
    run,
    file,
    anyField: false,
    writesEarly: isLarge(records),
  })
  if (run !== null && (yield* load(change.db.change(importGained(run, result, change.at)))) === 0) {
    throw new OperationError(
      `run ${run} does not run any more; nothing more was imported`,
      'run_interrupted',
      {
        hint: { action: 'get_run', run },
      },
    )
  }
  return result
}

/** Whether {@link upsert} writes records before it has validated all. */
export function isLarge(records: readonly JsonObject[]): boolean {
  return records.length > RECORDS_AT_ONCE
}

/** Returns what {@link upsert} would do, with all violations. Changes nothing. */
export function* tryUpsert(change: StoreChange, { records, actor }: UpsertBody): Steps<UpsertTrial> {
  const writer = { actor, proposal: null, anyField: false }
  const batch = new UpsertBatch(change, writer, new TriedRecords(change))
  yield* batch.addAll(records)
  return yield* batch.trial()
}

/** Inserts or merges records, as {@link upsert} does. */
export function* writeRecords(
  change: StoreChange,
  records: readonly JsonObject[],
  writer: BatchWriter,
): Steps<UpsertResult> {
  const batch = new UpsertBatch(change, writer, new WrittenRecords(change, writer))
  yield* batch.addAll(records)
  return yield* batch.finish()
}

/** Returns the ids of untrusted records. */
export function idsOf(records: readonly JsonObject[]): string[] {
  return [...new Set(records.map(idOf).filter((id) => id !== null))]
}

/** The writer of a batch, and whether records may be written into the tables before all are validated. */
interface BatchWriter extends RecordWriter {
  /** The import that writes them; null or absent for none. */
  readonly run?: RunId | null
  /** The name of the file that it imports; null or absent for none. */
  readonly file?: string | null
  readonly writesEarly?: boolean
}

/** Records that are loaded together, and of a larger batch written together. */
const RECORDS_AT_ONCE = 5000

/** Records between two pauses, unless `TURN_MS` pass before. */
const RECORDS_A_TURN = 100
const TURN_MS = 2

/** The records of a change, as the records of a batch so far leave them. */
interface BatchRecords {
  get(id: string): StoredRecord | undefined
  /** Both return the version of the record. */
  insert(write: RecordWrite): number
  update(write: RecordWrite, stored: StoredRecord): number
}

class UpsertBatch {
  readonly #change: StoreChange
  readonly #writer: BatchWriter
  readonly #validator: UpsertValidator
  readonly #records: BatchRecords
  readonly #counts = { inserted: 0, updated: 0, unchanged: 0 }
  /** The version of the record that was written last. */
  #version = 0

  constructor(change: StoreChange, writer: BatchWriter, records: BatchRecords) {
    this.#change = change
    this.#writer = writer
    this.#validator = new UpsertValidator(change.contract, writer, (field) => change.cells.isDerived(field))
    this.#records = records
  }

  *addAll(records: readonly JsonObject[]): Steps<void> {
    const change = this.#change
    for (let start = 0; start < records.length; start += RECORDS_AT_ONCE) {
      if (start > 0 && this.#canWriteEarly) yield* load(change.flush())
      const some = records.slice(start, start + RECORDS_AT_ONCE)
      yield* load(change.load(some.map(idOf).filter((id) => id !== null)))
      yield* this.#addSome(some, start)
    }
  }

  /** Whether the end of the batch cannot refuse the records so far: records may swap unique values. */
  get #canWriteEarly(): boolean {
    return (
      this.#writer.writesEarly === true && this.#validator.claims.isEmpty && !this.#validator.hasViolations
    )
  }

  *#addSome(records: readonly JsonObject[], start: number): Steps<void> {
    let since = performance.now()
    for (let index = 0; index < records.length; index += 1) {
      if ((index > 0 && index % RECORDS_A_TURN === 0) || performance.now() - since > TURN_MS) {
        yield* load(this.#change.pause())
        since = performance.now()
      }
      this.#add(records[index] as JsonObject, start + index)
    }
  }

  #add(record: JsonObject, position: number): void {
    const id = idOf(record)
    const stored = id === null ? undefined : this.#records.get(id)
    const write = this.#validator.validate(
      record,
      position,
      stored === undefined ? null : (field, value) => isStored(value, stored.value(field)),
    )
    if (write === null) return
    if (stored === undefined) this.#insert(write)
    else this.#update(write, stored)
  }

  *finish(): Steps<UpsertResult> {
    yield* this.#checkUnique()
    this.#validator.throwViolations()
    const version = this.#counts.inserted + this.#counts.updated === 1 ? String(this.#version) : null
    return { ...this.#counts, total: this.#change.totalRecords(), version }
  }

  *trial(): Steps<UpsertTrial> {
    yield* this.#checkUnique()
    return { ...this.#counts, violations: this.#validator.violations() }
  }

  *#checkUnique(): Steps<void> {
    const { claims } = this.#validator
    if (!claims.isEmpty) this.#validator.refuse(claims.conflicts(yield* load(this.#change.holders(claims))))
  }

  #insert(write: RecordWrite): void {
    this.#counts.inserted += 1
    this.#version = this.#records.insert(write)
  }

  #update(write: RecordWrite, stored: StoredRecord): void {
    this.#counts.updated += 1
    this.#version = stored.version
    if (write.fields.length === 0) this.#counts.unchanged += 1
    else this.#version = this.#records.update(write, stored)
  }
}

/** Writes the records of a batch. */
class WrittenRecords implements BatchRecords {
  readonly #change: StoreChange
  readonly #writer: BatchWriter

  constructor(change: StoreChange, writer: BatchWriter) {
    this.#change = change
    this.#writer = writer
  }

  get(id: string): StoredRecord | undefined {
    return this.#change.records.get(id)
  }

  insert(write: RecordWrite): number {
    const { id, record, values } = write
    const key = this.#change.newKey()
    const seq = this.#log(key, write, null)
    this.#change.insert({ id, key, seq, record, values, written: (field) => memberOf(record, field) })
    return seq
  }

  update(write: RecordWrite, stored: StoredRecord): number {
    const { record, fields } = write
    const { records, cells } = this.#change
    const { key } = stored
    const seq = this.#log(key, write, stored)
    records.update(stored, { fields, values: record, seq })
    for (const { name } of fields) {
      const target = cells.target(name)
      if (target !== undefined)
        cells.writtenByHand(target, key, { hasValue: memberOf(record, name) !== null, seq })
      cells.inputWritten(name, key, seq)
    }
    return seq
  }

  #log(key: number, { id, record, fields }: RecordWrite, stored: StoredRecord | null): number {
    return this.#change.logRecord(
      {
        actor: this.#writer.actor,
        proposal: this.#writer.proposal,
        run: this.#writer.run,
        file: this.#writer.file,
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

/**
 * Keeps the records of a batch in memory, for a trial. What it sets in unique fields is known by the claims of the batch, so that these
 * are compared with the stored records alone.
 */
class TriedRecords implements BatchRecords {
  readonly #change: StoreChange
  readonly #written = new Map<string, StoredRecord>()

  constructor(change: StoreChange) {
    this.#change = change
  }

  get(id: string): StoredRecord | undefined {
    return this.#written.get(id) ?? this.#change.records.get(id)
  }

  insert({ id, record }: RecordWrite): number {
    return this.#put(id, { key: 0, value: ({ name }) => memberOf(record, name) })
  }

  update({ id, record, fields }: RecordWrite, stored: StoredRecord): number {
    const written = new Set(fields.map(({ name }) => name))
    const value = (field: Field): JsonValue =>
      written.has(field.name) ? memberOf(record, field.name) : stored.value(field)
    return this.#put(id, { key: stored.key, value })
  }

  #put(id: string, record: Pick<StoredRecord, 'key' | 'value'>): number {
    this.#written.set(id, { id, version: 0, ...record })
    return 0
  }
}
