import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { mayWrite, writeDenial } from '../../contract/permissions.ts'
import type { Check } from '../../contract/scalar-checks.ts'
import { checkOf } from '../../contract/validate-value.ts'
import type { AcceptedProposal } from '../../provenance/log-line.ts'
import { PermissionDeniedError, ValidationError } from '../../errors/service-error.ts'
import type { Upsert, UpsertFault, UpsertResult, UpsertTrial } from '../sheet-store.ts'
import type { ChangeSet } from './change-set.ts'
import { checkVersion } from './check-version.ts'
import type { StoredRecord } from './stored-record.ts'
import { Faults, type UpsertBody } from '../upsert-body.ts'
import { UniqueClaims } from './unique-claims.ts'
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

/** Who writes records, and how. */
export interface RecordWriter {
  readonly actor: string
  /** The proposal that is accepted by this; null for a write of the actor's own. */
  readonly proposal: AcceptedProposal | null
  /** Whether the actor may write every field, whatever the contract says. */
  readonly anyField: boolean
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
  readonly #contract: Contract
  readonly #writer: RecordWriter
  readonly #denied = new Faults()
  readonly #faults = new Faults()
  readonly #mayWrite = new Map<Field, boolean>()
  readonly #columns: readonly Column[]
  readonly #claims: UniqueClaims
  /** Ids of records with faults: what follows for them is no more complete than they were. */
  readonly #refused = new Set<string>()
  #position = 0
  /** Those of the faults that are put into words. */
  readonly #told: UpsertFault[] = []
  #inserted = 0
  #updated = 0
  #unchanged = 0
  /** Of the record that was last written. */
  #version = 0

  constructor(change: ChangeSet, writer: RecordWriter) {
    this.#change = change
    this.#contract = change.contract
    this.#writer = writer
    this.#columns = columnsOf(change.contract)
    this.#claims = new UniqueClaims(change.db)
  }

  add(record: JsonObject, position: number): void {
    const id = idOf(record)
    const stored = id === null ? undefined : this.#change.records.get(id)
    const faultsBefore = this.#faults.count + this.#denied.count
    this.#position = position
    const changes = this.#changes(record, stored)
    if (stored === undefined && (id === null || !this.#refused.has(id))) this.#checkRequired(record)
    // A record without an id has a fault at any rate.
    if (id === null) return
    if (this.#faults.count + this.#denied.count > faultsBefore) {
      this.#refused.add(id)
      return
    }
    const write = { id, record, changes }
    if (stored === undefined) this.#insert(write)
    else this.#update(write, stored)
  }

  async finish(): Promise<UpsertResult> {
    await this.#checkUnique()
    if (this.#denied.count > 0) throw new PermissionDeniedError(this.#denied.message())
    if (this.#faults.count > 0) throw new ValidationError(this.#faults.message())
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
      faults: this.#told,
      faultCount: this.#denied.count + this.#faults.count,
    }
  }

  async #checkUnique(): Promise<void> {
    if (this.#claims.isEmpty) return
    await this.#change.flushEarlier()
    for (const { claim, holder } of await this.#claims.conflicts()) {
      const { field, value, id, position } = claim
      const fault = (): string =>
        `must be unique, but record ${JSON.stringify(holder)} has ${shorten(JSON.stringify(value))} already`
      this.#faults.add(this.#tell({ position, id, field: field.name }, fault))
    }
  }

  /** The fields that this record writes: those sent with another value than they have (D7). */
  #changes(record: JsonObject, stored: StoredRecord | undefined): Field[] {
    const changes: Field[] = []
    let known = 0
    for (const column of this.#columns) {
      const { field } = column
      if (!Object.hasOwn(record, field.name)) continue
      known += 1
      const value = record[field.name] as JsonValue
      if (isStored(value, stored?.value(field) ?? null)) continue
      changes.push(field)
      if (!this.#allowed(field)) {
        this.#denied.add(this.#at(record, field.name, () => writeDenial(field, this.#writer.actor)))
      }
      const fault = this.#faultOf(column, value)
      if (fault !== null) this.#faults.add(this.#at(record, field.name, () => fault))
      else if (field.unique && !field.primaryKey) this.#claim(record, field, value)
    }
    const names = Object.keys(record)
    if (known < names.length) this.#refuseUnknown(record, names)
    return changes
  }

  #claim(record: JsonObject, field: Field, value: JsonValue): void {
    const id = idOf(record)
    if (id !== null) this.#claims.add({ field, id, position: this.#position, value })
  }

  #refuseUnknown(record: JsonObject, names: readonly string[]): void {
    for (const name of names) {
      if (this.#contract.fieldByName.has(name)) continue
      this.#faults.add(this.#at(record, name, () => 'the contract has no such field'))
    }
  }

  #at(record: JsonObject, field: string, fault: () => string): () => string {
    return this.#tell({ position: this.#position, id: idOf(record), field }, fault)
  }

  /** A fault with its place, in words once it is asked for. */
  #tell(place: Omit<UpsertFault, 'fault'>, fault: () => string): () => string {
    return () => {
      const told = { ...place, fault: fault() }
      this.#told.push(told)
      return at(told.position, told.id, told.field, told.fault)
    }
  }

  #faultOf({ field, check }: Column, value: JsonValue): string | null {
    // Clearing a derived cell ends an override (D28), whether or not computed values are required.
    return value === null && this.#change.cells.isDerived(field.name) ? null : check(value)
  }

  #allowed(field: Field): boolean {
    let allowed = this.#mayWrite.get(field)
    if (allowed === undefined) {
      const { actor, anyField } = this.#writer
      allowed = anyField || mayWrite(field, actor, this.#change.cells.isDerived(field.name))
      this.#mayWrite.set(field, allowed)
    }
    return allowed
  }

  #checkRequired(record: JsonObject): void {
    for (const field of this.#contract.fields) {
      if (!field.required || own(record, field.name) !== null) continue
      if (this.#change.cells.isDerived(field.name)) continue
      this.#faults.add(this.#at(record, field.name, () => 'is required'))
    }
  }

  #insert(write: RecordWrite): void {
    const change = this.#change
    const { id, record } = write
    const key = change.newKey()
    const seq = this.#log(key, write, undefined)
    change.insert({ id, key, seq, value: (field) => own(record, field.name) })
    change.cells.created(key, (field) => own(record, field) !== null, seq)
    this.#inserted += 1
    this.#version = seq
  }

  #update(write: RecordWrite, stored: StoredRecord): void {
    const { record, changes } = write
    this.#updated += 1
    this.#version = stored.version
    if (changes.length === 0) {
      this.#unchanged += 1
      return
    }
    const change = this.#change
    const { key } = stored
    const seq = this.#log(key, write, stored)
    this.#version = seq
    const values = Object.fromEntries(changes.map(({ name }) => [name, own(record, name)]))
    change.records.update(stored, values, seq)
    for (const field of changes) {
      const target = change.cells.target(field.name)
      if (target !== undefined) {
        change.cells.writtenByHand(target, key, { hasValue: own(record, field.name) !== null, seq })
      }
      change.cells.inputWritten(field.name, key, seq)
    }
  }

  #log(key: number, { id, record, changes }: RecordWrite, stored: StoredRecord | undefined): number {
    return this.#change.logRecord(
      {
        actor: this.#writer.actor,
        proposal: this.#writer.proposal,
        source: 'write',
        recordId: id,
        fields: changes,
        values: record,
        previous: (field) => stored?.value(field) ?? null,
      },
      key,
    )
  }
}

/** A record without faults, and what of it changes. */
interface RecordWrite {
  readonly id: string
  readonly record: JsonObject
  readonly changes: readonly Field[]
}

interface Column {
  readonly field: Field
  readonly check: Check
}

const COLUMNS = new WeakMap<Contract, readonly Column[]>()

/** The fields of a contract with what holds against their values, made once. */
function columnsOf(contract: Contract): readonly Column[] {
  let columns = COLUMNS.get(contract)
  if (columns === undefined) {
    columns = contract.fields.map((field) => ({ field, check: checkOf(field) }))
    COLUMNS.set(contract, columns)
  }
  return columns
}

/** A member of a record from outside, where `constructor` and the like are field names as any. */
function own(record: JsonObject, field: string): JsonValue {
  return Object.hasOwn(record, field) ? (record[field] ?? null) : null
}

/** The id that a record from outside has; null when it has none. */
export function idOf(record: JsonObject): string | null {
  const id = own(record, 'id')
  return typeof id === 'string' ? id : null
}

/** The ids that records from outside have. */
export function idsOf(records: readonly JsonObject[]): string[] {
  return [...new Set(records.map(idOf).filter((id) => id !== null))]
}

/** A fault with its place in the batch. */
function at(position: number, id: string | null, field: string, fault: string): string {
  const who = id === null ? 'no id' : `id ${JSON.stringify(shorten(id))}`
  return `records[${position}] (${who}), field ${JSON.stringify(shorten(field))}: ${fault}`
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
