import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import type { ContractChange } from '../../contract/rules/compare-contracts.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { ContractError, fileError } from '../../errors/service-error.ts'
import type { RecordKey } from '../cell-work.ts'
import type { Query } from '../rows/query.ts'
import { load, type Loaded, type Steps } from '../rules/steps.ts'

/** The value of a field in a record. */
export interface FieldValue {
  readonly key: RecordKey
  readonly id: string
  readonly value: JsonValue
}

/** The stored records that a changed contract is compared with. */
export interface RecordsToCheck {
  query<T>(query: Query<T>): Loaded<T>
  /** Reads the values of a field in at most `limit` records after a key, in the order of creation. */
  values(field: Field, after: RecordKey, limit: number): Loaded<readonly FieldValue[]>
  /** Counts the records that share the value of a field with another. */
  sharedValues(field: Field): Loaded<number>
}

/** Values in memory at once. */
export const VALUES_AT_ONCE = 5000

/** The contract that stored records are compared with. */
export interface ContractToCheck {
  readonly change: ContractChange
  /** The names of the fields that derivations compute. */
  readonly derived: ReadonlySet<string>
  /** Returns the column that has the values of a field. */
  column(field: string): string
}

/** Returns why stored records would lose values or violate a changed contract (D9); empty where they do not. */
export function* contractConflicts(
  stored: RecordsToCheck,
  { change, derived, column }: ContractToCheck,
): Steps<readonly string[]> {
  const conflicts: (string | null)[] = []
  const records: RecordsToCheck = {
    query: (query) => stored.query(query),
    values: (field, after, limit) => stored.values({ ...field, name: column(field.name) }, after, limit),
    sharedValues: (field) => stored.sharedValues({ ...field, name: column(field.name) }),
  }
  const total = yield* load(records.query(RECORD_COUNT))
  if (total > 0) {
    for (const field of change.removed) conflicts.push(yield* removal(records, field))
    for (const { before, after } of change.retyped) conflicts.push(yield* retyping(records, before, after))
    const required = change.added.filter((field) => field.required && !derived.has(field.name))
    conflicts.push(...required.map((field) => addition(field, total)))
  }
  for (const field of change.recheck)
    conflicts.push(yield* tightening(records, field, derived.has(field.name)))
  for (const field of change.uniqueAdded) conflicts.push(yield* uniqueness(records, field))
  return conflicts.filter((conflict) => conflict !== null)
}

/** Throws ContractError for conflicts, if there are any. */
export function refuseConflicts(conflicts: readonly string[]): void {
  if (conflicts.length === 0) return
  const message = `does not fit the stored records: ${conflicts.join('; ')}`
  throw new ContractError(...fileError({ file: 'contract.yaml', line: null, message }, 'contract_conflict'))
}

const RECORD_COUNT: Query<number> = {
  sql: 'SELECT records FROM "$sheet"',
  params: [],
  result: ([row]) => Number(row?.['records']),
}

/** Counts the values of a column. */
export function valueCount({ name }: Pick<Field, 'name'>): Query<number> {
  return {
    sql: `SELECT count("${name}") AS n FROM "$data"`,
    params: [],
    result: ([row]) => Number(row?.['n']),
  }
}

function* removal(records: RecordsToCheck, field: Field): Steps<string> {
  const count = yield* load(records.query(valueCount(field)))
  return (
    `property "${field.name}" is gone (removed or renamed), which would lose its value in ${recordsText(count)}; ` +
    'put it back, and rename or remove it with `colophon field`, which keeps the history'
  )
}

function* retyping(records: RecordsToCheck, before: Field, after: Field): Steps<string> {
  const count = yield* load(records.query(valueCount(before)))
  return (
    `property "${before.name}" was of type ${before.type} and is now ${after.type}, which would break its value in ` +
    `${recordsText(count)}; put the type back, and convert the values with \`colophon field change\``
  )
}

function addition(field: Field, count: number): string {
  return `the new property "${field.name}" is required, but ${recordsText(count)} have no value for it; make it optional`
}

function* tightening(records: RecordsToCheck, field: Field, isDerived: boolean): Steps<string | null> {
  let violations = 0
  let example: string | null = null
  let after: RecordKey = 0
  for (;;) {
    const values: readonly FieldValue[] = yield* load(records.values(field, after, VALUES_AT_ONCE))
    for (const { id, value } of values) {
      // A derived cell that is not computed yet violates nothing, even if it is required.
      const violation = value === null && isDerived ? null : valueError(field, value)
      if (violation === null) continue
      violations += 1
      example ??= `"${id}": ${violation}`
    }
    if (values.length < VALUES_AT_ONCE) break
    after = values.at(-1)?.key ?? after
  }
  if (example === null) return null
  return (
    `property "${field.name}" allows less than before, and ${recordsText(violations)} would break it (${example}); ` +
    'loosen it again, or correct these records first'
  )
}

function* uniqueness(records: RecordsToCheck, field: Field): Steps<string | null> {
  const count = yield* load(records.sharedValues(field))
  if (count === 0) return null
  return (
    `property "${field.name}" is now unique, but ${recordsText(count)} share a value with another; ` +
    'take "unique" away, or correct these records first'
  )
}

export function recordsText(count: number): string {
  return `${count} ${count === 1 ? 'record' : 'records'}`
}
