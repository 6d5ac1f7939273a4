import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { unknownFieldMessage } from '../../contract/odcs/original-names.ts'
import { mayWrite, writeDenial } from '../../contract/rules/permissions.ts'
import type { Check } from '../../contract/values/scalar-checks.ts'
import { checkOf } from '../../contract/values/validate-value.ts'
import { PermissionDeniedError, ValidationError } from '../../errors/service-error.ts'
import { shorten, violationsMessage, type ListedViolations, type Violation } from '../../errors/violations.ts'
import type { AcceptedProposal } from '../../provenance/log-line.ts'
import { memberOf } from '../sheet-files/import-lines.ts'
import type { UniqueConflict } from './unique-claims.ts'
import { UniqueClaims } from './unique-claims.ts'
import { Violations } from './upsert-body.ts'

export interface RecordWriter {
  readonly actor: string
  /** The proposal that is accepted; null for a write of the actor's own. */
  readonly proposal: AcceptedProposal | null
  /** Whether the actor may write every field, whatever the contract says. */
  readonly anyField: boolean
}

/** The change that a valid record makes. */
export interface RecordWrite {
  readonly id: string
  readonly record: JsonObject
  /** The fields that are sent with another value than they have (D7). */
  readonly fields: readonly Field[]
  /** The values of the record for all fields of the contract, in its order; null for none. */
  readonly values: readonly JsonValue[]
}

/**
 * Validates the records of a batch against the contract and the permissions of the writer (D7, D13), one after the other,
 * and collects the violations.
 */
export class UpsertValidator {
  /** The values that the batch sets in unique fields. */
  readonly claims = new UniqueClaims()
  readonly #contract: Contract
  readonly #writer: RecordWriter
  readonly #isDerived: (field: string) => boolean
  readonly #columns: readonly Column[]
  /** Whether the actor may write the field of each column; undefined before the first check. */
  readonly #mayWrite: (boolean | undefined)[] = []
  readonly #denied = new Violations<Violation>()
  readonly #violations = new Violations<Violation>()
  /** Ids of records with violations: a later record of the same id is not checked for completeness. */
  readonly #refused = new Set<string>()
  /** The listed violations of both kinds, in their order. */
  readonly #listed: Violation[] = []
  #index = 0

  constructor(contract: Contract, writer: RecordWriter, isDerived: (field: string) => boolean) {
    this.#contract = contract
    this.#writer = writer
    this.#isDerived = isDerived
    this.#columns = columnsOf(contract)
  }

  /**
   * Validates a record, and returns its change, or null for a violation. `isStored` tells whether a field of the existing
   * record has this value already; it is null for a new record.
   */
  validate(
    record: JsonObject,
    index: number,
    isStored: ((field: Field, value: JsonValue) => boolean) | null,
  ): RecordWrite | null {
    this.#index = index
    const id = idOf(record)
    const violationsBefore = this.#violationCount
    const { fields, values } = this.#changes(record, isStored)
    if (isStored === null && (id === null || !this.#refused.has(id))) this.#checkRequired(record)
    // A missing id is a violation already.
    if (id === null) return null
    if (this.#violationCount === violationsBefore) return { id, record, fields, values }
    this.#refused.add(id)
    return null
  }

  /** Adds violations for conflicting claims. */
  refuse(conflicts: readonly UniqueConflict[]): void {
    for (const { claim, holder } of conflicts) {
      const { field, value, id, index } = claim
      const message = (): string =>
        `must be unique, but record ${JSON.stringify(holder)} has ${shorten(JSON.stringify(value))} already`
      this.#violations.add(this.#listing({ index, id, field: field.name }, message))
    }
  }

  /** Throws PermissionDeniedError, else ValidationError, when there is a violation. */
  throwViolations(): void {
    for (const violations of [this.#denied, this.#violations]) {
      if (violations.count === 0) continue
      const { listed, count } = violations
      const message = violationsMessage(violations)
      const details = { violations: { listed, count } }
      throw violations === this.#denied
        ? new PermissionDeniedError(message, 'write_not_permitted', details)
        : new ValidationError(message, 'invalid_records', details)
    }
  }

  /** Returns the violations, for a trial. */
  violations(): ListedViolations {
    return { listed: this.#listed, count: this.#violationCount }
  }

  get hasViolations(): boolean {
    return this.#violationCount > 0
  }

  get #violationCount(): number {
    return this.#denied.count + this.#violations.count
  }

  #changes(
    record: JsonObject,
    isStored: ((field: Field, value: JsonValue) => boolean) | null,
  ): Pick<RecordWrite, 'fields' | 'values'> {
    const fields: Field[] = []
    const values: JsonValue[] = []
    let known = 0
    for (const column of this.#columns) {
      const { field } = column
      const value = memberIn(record, column)
      values.push(value ?? null)
      if (value === undefined) continue
      known += 1
      if (isStored === null ? value === null : isStored(field, value)) continue
      fields.push(field)
      this.#check(column, record, value)
    }
    const names = Object.keys(record)
    if (known < names.length) this.#refuseUnknown(record, names)
    return { fields: this.#asLast(fields), values }
  }

  /** Returns the list of the record before, if it is equal: work for a list is then done once. */
  #asLast(fields: readonly Field[]): readonly Field[] {
    const last = LAST_FIELDS.get(this.#contract)
    if (last?.length === fields.length && fields.every((field, index) => field === last[index])) return last
    LAST_FIELDS.set(this.#contract, fields)
    return fields
  }

  #check(column: Column, record: JsonObject, value: JsonValue): void {
    const { field } = column
    if (!this.#allowed(column)) {
      this.#denied.add(this.#at(record, field.name, () => writeDenial(field, this.#writer.actor)))
    }
    const violation = this.#valueError(column, value)
    if (violation !== null) this.#violations.add(this.#at(record, field.name, () => violation))
    else if (field.unique && !field.primaryKey) {
      const id = idOf(record)
      if (id !== null) this.claims.add({ field, id, index: this.#index, value })
    }
  }

  #allowed({ field, place }: Column): boolean {
    let allowed = this.#mayWrite[place]
    if (allowed === undefined) {
      const { actor, anyField } = this.#writer
      allowed = anyField || mayWrite(field, actor, this.#isDerived(field.name))
      this.#mayWrite[place] = allowed
    }
    return allowed
  }

  #valueError({ field, check }: Column, value: JsonValue): string | null {
    // Clearing a derived cell ends an override (D28), even if computed values are required.
    return value === null && this.#isDerived(field.name) ? null : check(value)
  }

  #refuseUnknown(record: JsonObject, names: readonly string[]): void {
    for (const name of names) {
      if (this.#contract.fieldByName.has(name)) continue
      this.#violations.add(this.#at(record, shorten(name), () => unknownFieldMessage(this.#contract, name)))
    }
  }

  #checkRequired(record: JsonObject): void {
    for (const field of this.#contract.fields) {
      if (!field.required || memberOf(record, field.name) !== null) continue
      if (this.#isDerived(field.name)) continue
      this.#violations.add(this.#at(record, field.name, () => 'is required'))
    }
  }

  #at(record: JsonObject, field: string, message: () => string): () => Violation {
    return this.#listing({ index: this.#index, id: idOf(record), field }, message)
  }

  /** Returns a function that creates a violation and lists it. */
  #listing(place: Omit<Violation, 'message'>, message: () => string): () => Violation {
    return () => {
      const violation = { ...place, message: message() }
      this.#listed.push(violation)
      return violation
    }
  }
}

/** The fields that the last record under a contract changed, in any batch. */
const LAST_FIELDS = new WeakMap<Contract, readonly Field[]>()

interface Column {
  readonly field: Field
  /** Index among the columns, from 0. */
  readonly place: number
  /** Whether every object inherits a member of the field's name from its prototype. */
  readonly inherited: boolean
  readonly check: Check
}

const COLUMNS = new WeakMap<Contract, readonly Column[]>()

/** Returns the fields of a contract with the checks of their values, made once. */
function columnsOf(contract: Contract): readonly Column[] {
  let columns = COLUMNS.get(contract)
  if (columns === undefined) {
    columns = contract.fields.map((field, place) => ({
      field,
      place,
      inherited: field.name in Object.prototype,
      check: checkOf(field),
    }))
    COLUMNS.set(contract, columns)
  }
  return columns
}

/** Returns the value of a record for a column; undefined where it has no such member. Called for every written value. */
function memberIn(record: JsonObject, { field: { name }, inherited }: Column): JsonValue | undefined {
  return inherited && !Object.hasOwn(record, name) ? undefined : record[name]
}

/** Returns the id of an untrusted record; null when it has none. */
export function idOf(record: JsonObject): string | null {
  const id = memberOf(record, 'id')
  return typeof id === 'string' ? id : null
}
