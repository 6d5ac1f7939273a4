import type { SQLInputValue } from 'node:sqlite'
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
import type { StoredRow } from './connection.ts'
import { quoted } from './schema.ts'
import { Faults, readBody } from '../upsert-body.ts'
import { UniqueClaims } from './unique-claims.ts'
import { fromColumn, isStored, toColumn } from './values.ts'

/**
 * Inserts or merges records (D13). Goes through the whole batch before it gives up, so that every fault is told at
 * once; the caller takes everything back when this throws. Throws ValidationError and PermissionDeniedError, and before
 * these PreconditionFailedError: whoever has not seen the record as it is need not hear what is wrong with the change.
 */
export function upsert(change: ChangeSet, request: Upsert): UpsertResult {
  const { records, actor } = readBody(request)
  const id = idOf(records[0] ?? {})
  // A record without an id has a fault at any rate.
  if (id !== null) checkVersion(change.db, id, request.ifMatch)
  return writeRecords(change, records, { actor, proposal: null, anyField: false })
}

/** What {@link upsert} would do, with faults as part of the answer. The caller takes everything back. */
export function tryUpsert(change: ChangeSet, request: Upsert): UpsertTrial {
  const { records, actor } = readBody(request)
  const batch = new UpsertBatch(change, { actor, proposal: null, anyField: false })
  records.forEach((record, position) => batch.add(record, position))
  return batch.trial()
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
  readonly #contract: Contract
  readonly #writer: RecordWriter
  readonly #denied = new Faults()
  readonly #faults = new Faults()
  readonly #plan: UpsertPlan
  /** Whether the actor may write the field of each column, once that was asked. */
  readonly #mayWrite: (boolean | undefined)[] = []
  readonly #claims: UniqueClaims
  /** Ids of records with faults: what follows for them is no more complete than they were. */
  readonly #refused = new Set<string>()
  #position = 0
  /** The fields that the last record changed. */
  #lastFields: readonly Field[] = []
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
    this.#plan = planOf(change.contract)
    this.#claims = new UniqueClaims(change.db)
  }

  add(record: JsonObject, position: number): void {
    const id = idOf(record)
    const stored = id === null ? undefined : this.#change.db.get(this.#plan.select, id)
    const faultsBefore = this.#faults.count + this.#denied.count
    this.#position = position
    const write = this.#changes(record, stored)
    if (stored === undefined && (id === null || !this.#refused.has(id))) this.#checkRequired(record)
    // A record without an id has a fault at any rate.
    if (id === null) return
    if (this.#faults.count + this.#denied.count > faultsBefore) {
      this.#refused.add(id)
      return
    }
    if (stored === undefined) this.#insert(id, write)
    else this.#update(id, write, stored)
  }

  finish(): UpsertResult {
    this.#checkUnique()
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
  trial(): UpsertTrial {
    this.#checkUnique()
    return {
      inserted: this.#inserted,
      updated: this.#updated,
      unchanged: this.#unchanged,
      faults: this.#told,
      faultCount: this.#denied.count + this.#faults.count,
    }
  }

  #checkUnique(): void {
    for (const { claim, holder } of this.#claims.conflicts()) {
      const { field, value, id, position } = claim
      const fault = (): string =>
        `must be unique, but record ${JSON.stringify(holder)} has ${shorten(JSON.stringify(value))} already`
      this.#faults.add(this.#tell({ position, id, field: field.name }, fault))
    }
  }

  /** What this record changes: the fields that are sent with another value than they have (D7). */
  #changes(record: JsonObject, stored: StoredRow | undefined): RecordWrite {
    const fields: Field[] = []
    const values: SQLInputValue[] = []
    let known = 0
    for (const column of this.#plan.columns) {
      const { field } = column
      const sent = Object.hasOwn(record, field.name)
      if (sent) known += 1
      const value = sent ? (record[field.name] as JsonValue) : null
      if (sent && !isStored(field, value, stored?.[field.name])) {
        fields.push(field)
        if (this.#accepts(column, record, value)) values.push(toColumn(value))
      } else if (stored === undefined) {
        values.push(null)
      }
    }
    const names = Object.keys(record)
    if (known < names.length) this.#refuseUnknown(record, names)
    return { record, fields: this.#asLast(fields), values }
  }

  /** The list that the record before had, where it is the same: what is made for a list is then made once. */
  #asLast(fields: readonly Field[]): readonly Field[] {
    const last = this.#lastFields
    if (last.length !== fields.length || last.some((field, index) => field !== fields[index]))
      this.#lastFields = fields
    return this.#lastFields
  }

  /** Whether a value may be written; what is against it is noted. */
  #accepts(column: Column, record: JsonObject, value: JsonValue): boolean {
    const { field } = column
    if (!this.#allowed(column)) {
      this.#denied.add(this.#at(record, field.name, () => writeDenial(field, this.#writer.actor)))
    }
    const fault = this.#faultOf(column, value)
    if (fault !== null) this.#faults.add(this.#at(record, field.name, () => fault))
    else if (field.unique && !field.primaryKey) this.#claim(record, field, value)
    return fault === null
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

  #allowed({ field, place }: Column): boolean {
    let allowed = this.#mayWrite[place]
    if (allowed === undefined) {
      const { actor, anyField } = this.#writer
      allowed = anyField || mayWrite(field, actor, this.#change.cells.isDerived(field.name))
      this.#mayWrite[place] = allowed
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

  #insert(id: string, write: RecordWrite): void {
    const change = this.#change
    const key = change.newRecord()
    const seq = this.#log(key, id, write, null)
    change.db.run(this.#plan.insert, key, seq, ...write.values)
    change.cells.created(key, (field) => own(write.record, field) !== null, seq)
    this.#inserted += 1
    this.#version = seq
  }

  #update(id: string, write: RecordWrite, stored: StoredRow): void {
    const { record, fields, values } = write
    this.#updated += 1
    this.#version = Number(stored['$version'])
    if (fields.length === 0) {
      this.#unchanged += 1
      return
    }
    const change = this.#change
    const key = Number(stored['$seq'])
    const seq = this.#log(key, id, write, stored)
    this.#version = seq
    const set = fields.map((field) => `${quoted(field.name)} = ?`).join(', ')
    change.db.run(`UPDATE "$data" SET "$version" = ?, ${set} WHERE "$seq" = ?`, seq, ...values, key)
    for (const field of fields) {
      const target = change.cells.target(field.name)
      if (target !== undefined) {
        change.cells.writtenByHand(target, key, { hasValue: own(record, field.name) !== null, seq })
      }
      change.cells.inputWritten(field.name, key, seq)
    }
  }

  #log(key: number, id: string, { record, fields }: RecordWrite, stored: StoredRow | null): number {
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

/** What a record changes. */
interface RecordWrite {
  readonly record: JsonObject
  readonly fields: readonly Field[]
  /** What columns get: of a new record all of them, else those of the fields. Incomplete where there are faults. */
  readonly values: readonly SQLInputValue[]
}

interface Column {
  readonly field: Field
  /** Among the columns, from 0. */
  readonly place: number
  readonly check: Check
}

/** What writing records under a contract takes, made once. */
interface UpsertPlan {
  readonly columns: readonly Column[]
  readonly select: string
  readonly insert: string
}

const PLANS = new WeakMap<Contract, UpsertPlan>()

function planOf(contract: Contract): UpsertPlan {
  let plan = PLANS.get(contract)
  if (plan === undefined) {
    const names = contract.fields.map((field) => quoted(field.name))
    plan = {
      columns: contract.fields.map((field, place) => ({ field, place, check: checkOf(field) })),
      select: 'SELECT * FROM "$data" WHERE id = ?',
      insert: `INSERT INTO "$data" ("$seq", "$version", ${names.join(', ')}) VALUES (?, ?${', ?'.repeat(names.length)})`,
    }
    PLANS.set(contract, plan)
  }
  return plan
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

/** A fault with its place in the batch. */
function at(position: number, id: string | null, field: string, fault: string): string {
  const who = id === null ? 'no id' : `id ${JSON.stringify(shorten(id))}`
  return `records[${position}] (${who}), field ${JSON.stringify(shorten(field))}: ${fault}`
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
