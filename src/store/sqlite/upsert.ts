import type { SQLInputValue } from 'node:sqlite'
import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { mayWrite } from '../../contract/permissions.ts'
import type { Check } from '../../contract/scalar-checks.ts'
import { checkOf } from '../../contract/validate-value.ts'
import { PermissionDeniedError, ValidationError } from '../../errors/service-error.ts'
import type { Upsert, UpsertResult } from '../sheet-store.ts'
import type { ChangeSet } from './change-set.ts'
import type { StoredRow } from './connection.ts'
import { quoted } from './schema.ts'
import { listFaults, readBody, type UpsertRecord } from './upsert-body.ts'
import { fromColumn, isStored, toColumn } from './values.ts'

/**
 * Inserts or merges records (D13). Goes through the whole batch before it gives up, so that every fault is told at
 * once; the caller takes everything back when this throws. Throws ValidationError and PermissionDeniedError.
 */
export function upsert(change: ChangeSet, request: Upsert): UpsertResult {
  const { records, actor } = readBody(request)
  const batch = new UpsertBatch(change, actor)
  records.forEach((record, position) => batch.add(record, position))
  return batch.finish()
}

class UpsertBatch {
  readonly #change: ChangeSet
  readonly #contract: Contract
  readonly #actor: string
  readonly #denied: string[] = []
  readonly #faults: string[] = []
  readonly #mayWrite = new Map<Field, boolean>()
  readonly #plan: UpsertPlan
  /** Ids of records with faults: what follows for them is no more complete than they were. */
  readonly #refused = new Set<string>()
  #position = 0
  #inserted = 0
  #updated = 0

  constructor(change: ChangeSet, actor: string) {
    this.#change = change
    this.#contract = change.contract
    this.#actor = actor
    this.#plan = planOf(change.contract)
  }

  add(record: UpsertRecord, position: number): void {
    const stored = this.#change.db.get(this.#plan.select, record.id)
    const faultsBefore = this.#faults.length + this.#denied.length
    this.#position = position
    const changes = this.#changes(record, stored)
    if (stored === undefined && !this.#refused.has(record.id)) this.#checkRequired(record)
    if (this.#faults.length + this.#denied.length > faultsBefore) {
      this.#refused.add(record.id)
      return
    }
    if (stored === undefined) this.#insert(record, changes)
    else this.#update(record, stored, changes)
  }

  finish(): UpsertResult {
    if (this.#denied.length > 0) throw new PermissionDeniedError(listFaults(this.#denied))
    if (this.#faults.length > 0) throw new ValidationError(listFaults(this.#faults))
    return { inserted: this.#inserted, updated: this.#updated, total: this.#change.totalRecords() }
  }

  /** The fields that this record writes: those sent with another value than they have (D7). */
  #changes(record: UpsertRecord, stored: StoredRow | undefined): Field[] {
    const changes: Field[] = []
    let known = 0
    for (const column of this.#plan.columns) {
      const { field } = column
      if (!Object.hasOwn(record, field.name)) continue
      known += 1
      const value = record[field.name] as JsonValue
      if (isStored(field, value, stored?.[field.name])) continue
      changes.push(field)
      if (!this.#allowed(field)) this.#denied.push(this.#at(record, field.name, this.#denial(field)))
      const fault = this.#faultOf(column, value, stored)
      if (fault !== null) this.#faults.push(this.#at(record, field.name, fault))
    }
    const names = Object.keys(record)
    if (known < names.length) this.#refuseUnknown(record, names)
    return changes
  }

  #refuseUnknown(record: UpsertRecord, names: readonly string[]): void {
    for (const name of names) {
      if (this.#contract.fieldByName.has(name)) continue
      this.#faults.push(this.#at(record, name, 'the contract has no such field'))
    }
  }

  #at(record: UpsertRecord, field: string, fault: string): string {
    const [id, name] = [record.id, field].map((text) => JSON.stringify(shorten(text)))
    return `records[${this.#position}] (id ${id}), field ${name}: ${fault}`
  }

  #faultOf({ field, check }: Column, value: JsonValue, stored: StoredRow | undefined): string | null {
    // Clearing a derived cell ends an override (D28), whether or not computed values are required.
    if (value === null && this.#change.cells.isDerived(field.name)) return null
    return check(value) ?? (field.unique && value !== null ? this.#uniqueFault(field, value, stored) : null)
  }

  #uniqueFault(field: Field, value: JsonValue, stored: StoredRow | undefined): string | null {
    const name = quoted(field.name)
    const other = this.#change.db.get(
      `SELECT id FROM "$data" WHERE ${name} = ? AND "$seq" IS NOT ? LIMIT 1`,
      toColumn(value),
      stored?.['$seq'] ?? null,
    )
    if (other === undefined) return null
    return `must be unique, but record ${JSON.stringify(other['id'])} has ${shorten(JSON.stringify(value))} already`
  }

  #allowed(field: Field): boolean {
    let allowed = this.#mayWrite.get(field)
    if (allowed === undefined) {
      allowed = mayWrite(field, this.#actor, this.#change.cells.isDerived(field.name))
      this.#mayWrite.set(field, allowed)
    }
    return allowed
  }

  #denial(field: Field): string {
    const actor = JSON.stringify(this.#actor)
    if (field.editableBy === null)
      return `actor ${actor} may not write it; it is derived, so materialize computes it`
    return `actor ${actor} may not write it; it is editable by ${field.editableBy.join(', ') || 'nobody'}`
  }

  #checkRequired(record: UpsertRecord): void {
    for (const field of this.#contract.fields) {
      if (!field.required || own(record, field.name) !== null) continue
      if (this.#change.cells.isDerived(field.name)) continue
      this.#faults.push(this.#at(record, field.name, 'is required'))
    }
  }

  #insert(record: UpsertRecord, changes: readonly Field[]): void {
    const change = this.#change
    const columns = this.#contract.fields.map((field): SQLInputValue => toColumn(own(record, field.name)))
    const key = change.newRecord()
    const seq = this.#log(key, record, changes, undefined)
    change.db.run(this.#plan.insert, key, seq, ...columns)
    change.cells.created(key, (field) => own(record, field) !== null, seq)
    this.#inserted += 1
  }

  #update(record: UpsertRecord, stored: StoredRow, changes: readonly Field[]): void {
    this.#updated += 1
    if (changes.length === 0) return
    const change = this.#change
    const key = Number(stored['$seq'])
    const seq = this.#log(key, record, changes, stored)
    const set = changes.map((field) => `${quoted(field.name)} = ?`).join(', ')
    const values = changes.map((field) => toColumn(own(record, field.name)))
    change.db.run(`UPDATE "$data" SET "$version" = ?, ${set} WHERE "$seq" = ?`, seq, ...values, key)
    for (const field of changes) {
      const target = change.cells.target(field.name)
      if (target !== undefined) {
        change.cells.writtenByHand(target, key, { hasValue: own(record, field.name) !== null, seq })
      }
      change.cells.inputWritten(field.name, key, seq)
    }
  }

  #log(key: number, record: UpsertRecord, changed: readonly Field[], stored: StoredRow | undefined): number {
    return this.#change.logRecord(
      {
        actor: this.#actor,
        source: 'write',
        recordId: record.id,
        fields: changed,
        values: record,
        previous: (field) => (stored === undefined ? null : fromColumn(field, stored[field.name])),
      },
      key,
    )
  }
}

interface Column {
  readonly field: Field
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
      columns: contract.fields.map((field) => ({ field, check: checkOf(field) })),
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

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
