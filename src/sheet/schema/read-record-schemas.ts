import type { Contract } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import {
  purposeOf,
  recordInputSchema,
  recordSchema,
  type JsonSchema,
} from '../../contract/rules/record-schema.ts'
import { ServiceError } from '../../errors/service-error.ts'
import { conditionSchema, type ConditionReferences } from './condition-schema.ts'
import type { Derivations } from '../definition/definition-files.ts'
import { listRecords } from '../queries/list-records.ts'
import type { Sheet } from '../sheet.ts'

export { TIMESTAMP_SCHEMA, type JsonSchema } from '../../contract/rules/record-schema.ts'

/** The contract as JSON Schema, with what describes the sheet. */
export interface RecordSchemas {
  /** A record in a response. */
  readonly record: JsonSchema
  /** A record in a write. */
  readonly input: JsonSchema
  /** The purpose of the sheet; empty when the contract has none. */
  readonly purpose: string
  readonly fields: readonly string[]
  /** The fields that can be sorted by. */
  readonly sortable: readonly string[]
  /** Returns the schema of a condition on records. */
  condition(references: ConditionReferences): JsonSchema
}

/** The names that the derivations add. */
export interface DerivationNames {
  readonly targets: readonly string[]
  readonly files: readonly string[]
}

/** The present schemas of a sheet, for its descriptions: the same objects until something changes. */
export interface SheetSchemas {
  /** Null while the contract is broken. */
  readonly records: RecordSchemas | null
  /** Null while the contract or a derivation file is broken. */
  readonly derivations: DerivationNames | null
  /** The JSON text of a record of the sheet, or of a part of one; null when there is none. */
  readonly sample: string | null
}

/** Fields of a sample, and characters of the JSON of each value, at most. */
const SAMPLE_FIELDS = 5
const SAMPLE_LENGTH = 100

const RECORDS = new WeakMap<Contract, RecordSchemas>()
const NAMES = new WeakMap<Derivations, DerivationNames>()
const SAMPLES = new WeakMap<Contract, string>()

/** Returns the schemas of a sheet by its present definition; parts that are broken are null. */
export async function readSheetSchemas(sheet: Sheet): Promise<SheetSchemas> {
  const contract = await orNull(async () => (await sheet.current()).contract)
  const derivations = await orNull(async () => (await sheet.defined()).derivations)
  const records = contract === null ? null : kept(RECORDS, contract, schemasOf)
  return {
    records,
    derivations: derivations === null ? null : kept(NAMES, derivations, namesOf),
    sample: contract === null ? null : await orNull(() => readSample(sheet, contract, derivations)),
  }
}

function schemasOf(contract: Contract): RecordSchemas {
  const hasOrder = ({ type }: { readonly type: string }): boolean => type !== 'array' && type !== 'object'
  return {
    record: recordSchema(contract),
    input: recordInputSchema(contract),
    purpose: purposeOf(contract),
    fields: contract.fields.map(({ name }) => name),
    sortable: contract.fields.filter(hasOrder).map(({ name }) => name),
    condition: (references) => conditionSchema(contract, references),
  }
}

function namesOf({ levels, byTarget }: Derivations): DerivationNames {
  return { targets: [...byTarget.keys()], files: levels.flat().map(({ file }) => file) }
}

/** Returns the first record, without derived and long values; read once for a contract. */
async function readSample(
  sheet: Sheet,
  contract: Contract,
  derivations: Derivations | null,
): Promise<string | null> {
  const known = SAMPLES.get(contract)
  if (known !== undefined) return known
  const fields = contract.fields
    .filter(({ name }) => derivations?.byTarget.has(name) !== true)
    .toSorted((a, b) => Number(b.primaryKey) - Number(a.primaryKey))
    .map(({ name }) => name)
    .slice(0, SAMPLE_FIELDS)
  const { records } = await listRecords(sheet, { limit: 1, fields })
  const [first] = JSON.parse(String(records)) as readonly JsonObject[]
  if (first === undefined) return null
  const short = Object.entries(first).filter(
    ([, value]) => value !== null && JSON.stringify(value).length <= SAMPLE_LENGTH,
  )
  const sample = JSON.stringify(Object.fromEntries(short))
  SAMPLES.set(contract, sample)
  return sample
}

function kept<Key extends object, Value>(
  made: WeakMap<Key, Value>,
  key: Key,
  make: (key: Key) => Value,
): Value {
  const value = made.get(key) ?? make(key)
  made.set(key, value)
  return value
}

/** Returns what `read` does; null when a file or the store is broken. */
async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
