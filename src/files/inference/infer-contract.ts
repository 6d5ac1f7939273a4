import type { Contract, LogicalType } from '../../contract/contract.ts'
import { ID_FROM, ROW_NUMBER } from '../../contract/odcs/id-source.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { ORIGINAL_NAME } from '../../contract/odcs/original-names.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import { closedListRule, contractText } from './contract-text.ts'
import { typeOfColumn } from './column-type.ts'
import { fieldNames } from './field-names.ts'
import type { DateOrder } from '../../contract/values/foreign-moment.ts'
import type { ColumnSketch } from './infer-column.ts'
import { columnWarnings, hasDecimalCommas } from './inference-warnings.ts'
import { chooseKey, whyNoKey, type AskedKey, type ChosenKey } from './infer-key.ts'
import type { FileProfile } from './infer-profile.ts'
import { STRICT, type Reading } from '../notation/notation-sketch.ts'
import type { Occurrence } from '../notation/occurrence.ts'

/** The least average number of records for each value of a closed list. */
export const USES_OF_LISTED = 10

/** The least number of different values for which a column that looks like a key is unique. */
export const SOME_VALUES = 10

/** The least number of different short texts for which any other column is unique. */
export const MANY_VALUES = 100

/** A field and the source of its values. */
export interface InferredField {
  readonly field: string
  /** The column of the file; null for generated ids. */
  readonly column: string | null
  readonly type: LogicalType
  readonly required: boolean
  readonly unique: boolean
  /** The values of the closed list, or null. */
  readonly validValues: readonly string[] | null
  /** The number of records with a value; null if not counted. */
  readonly values: number | null
  /** Warnings about guesses; each a sentence without a full stop. */
  readonly doubts: readonly string[]
}

/** An inferred contract and how it was derived. */
export interface Inference {
  readonly contract: Contract
  /** The fields in the order of the contract: generated ids, then the columns. */
  readonly fields: readonly InferredField[]
  /** The reading of each field's texts. */
  readonly readings: ReadonlyMap<string, Reading>
  readonly records: number
}

export interface InferenceNaming {
  /** The contract's id. */
  readonly id: string
  /** The name of its schema entry. */
  readonly entry: string
  readonly key: AskedKey
  /** The requested types of columns. */
  readonly types?: ReadonlyMap<string, LogicalType>
  /** The requested order of day and month in dates. */
  readonly dateOrder?: DateOrder | null
}

/**
 * Infers the contract that accepts all records of a file; docs/reference/inference.md has the rules. Throws
 * ValidationError if the values of the requested key column are not unique.
 */
export function inferContract(profile: FileProfile, naming: InferenceNaming): Inference {
  const key = chooseKey(profile, naming.key)
  const types = naming.types ?? new Map<string, LogicalType>()
  checkTypes(types, profile, key)
  const names = namesOf(profile, key)
  const decimalComma = profile.columns.find(hasDecimalCommas)?.notation.decimalComma ?? null
  const drafts = profile.columns.map((column, index) =>
    draftField(column, {
      profile,
      decimalComma,
      key,
      field: names[index] ?? '',
      type: types.get(column.name) ?? null,
      dateOrder: naming.dateOrder ?? null,
    }),
  )
  if (key === null) drafts.unshift(madeUpId(profile, naming.key === false))
  const text = contractText({
    id: naming.id,
    entry: naming.entry,
    description: `Inferred from ${profile.file.source.name}.`,
    properties: drafts.map(({ property }) => property),
  })
  return {
    contract: parseContract(text),
    fields: drafts.map(({ inferred }) => inferred),
    readings: new Map(drafts.map(({ inferred, reading }) => [inferred.field, reading])),
    records: profile.records,
  }
}

/** A field, and its property in the contract. */
interface Draft {
  readonly inferred: InferredField
  readonly property: JsonObject
  readonly reading: Reading
}

function namesOf({ columns }: FileProfile, key: ChosenKey | null): string[] {
  const others = columns.filter((column) => column !== key?.column)
  const names = fieldNames(
    others.map(({ name }) => (name.trim().toLowerCase() === 'id' ? `original_${name.trim()}` : name)),
    ['id'],
  )
  return columns.map((column) => (column === key?.column ? 'id' : (names.shift() ?? '')))
}

function madeUpId({ records }: FileProfile, asked: boolean): Draft {
  const doubts =
    records === 0 || asked
      ? []
      : ['no column has a different text, date or integer in each record: numbered in the order of the file']
  return {
    inferred: {
      field: 'id',
      column: null,
      type: 'string',
      required: true,
      unique: true,
      validValues: null,
      values: records,
      doubts,
    },
    property: {
      name: 'id',
      logicalType: 'string',
      primaryKey: true,
      required: true,
      customProperties: [{ property: ID_FROM, value: ROW_NUMBER }],
    },
    reading: STRICT,
  }
}

/** Throws ValidationError for a type of a column that does not exist, and for one that the key cannot have. */
function checkTypes(
  types: ReadonlyMap<string, LogicalType>,
  { columns, file }: FileProfile,
  key: ChosenKey | null,
): void {
  for (const [name, type] of types) {
    if (!columns.some((column) => column.name === name)) {
      const known = showNames(columns.map((column) => column.name))
      throw new ValidationError(
        `${file.source.name} has no column ${showValue(name)} for a type; it has ${known}`,
        'unknown_column',
      )
    }
    if (name === key?.column.name && type !== 'string') {
      throw new ValidationError(
        `${file.source.name}: ${showValue(name)} is the key, which is text, and cannot be ${type}; choose another key`,
        'key_required',
      )
    }
  }
}

interface Place {
  readonly profile: FileProfile
  readonly key: ChosenKey | null
  readonly field: string
  /** The requested type. */
  readonly type: LogicalType | null
  readonly dateOrder: DateOrder | null
  readonly decimalComma: Occurrence | null
}

function draftField(column: ColumnSketch, place: Place): Draft {
  const { profile, key, field, type: asked, dateOrder, decimalComma } = place
  const isKey = column === key?.column
  const found = typeOfColumn(column, { cells: profile.file.cells, dateOrder, decimalComma })
  const type = isKey ? 'string' : (asked ?? found.type)
  const absent = column.blank + (type === 'string' ? 0 : (column.notation.missing?.count ?? 0))
  const required = isKey || (profile.records > 0 && column.count === profile.records && absent === 0)
  const unique = isKey || isUnique(column, type)
  const validValues = isKey ? null : closedList(column, type)
  const nested = type === 'array' || type === 'object' ? column.shape.describe() : {}
  const property = {
    name: field,
    ...(field === column.name ? {} : originalNameKeys(column.name)),
    ...nested,
    logicalType: type,
    ...(isKey ? { primaryKey: true } : {}),
    ...(required ? { required } : {}),
    ...(unique && !isKey ? { unique } : {}),
    ...(validValues === null ? {} : { quality: [closedListRule(validValues)] }),
  }
  const doubts = isKey
    ? keyWarnings(key)
    : [
        ...notKeyWarnings(column, profile),
        ...(asked === null ? columnWarnings(column, found, { ...profile.file, decimalComma }) : []),
      ]
  const { name } = column
  const values = type === 'string' ? column.count : column.count - absent
  return {
    inferred: { field, column: name, type, required, unique, validValues, values, doubts },
    property,
    reading: found.reading,
  }
}

/** Returns the keys that store the name of a column; in JSON the name may be empty. */
function originalNameKeys(name: string): JsonObject {
  if (name.trim() !== '') return { businessName: name }
  return { customProperties: [{ property: ORIGINAL_NAME, value: name }] }
}

function keyWarnings({ guess }: ChosenKey): string[] {
  return guess === null ? [] : [guess]
}

/** Warns about a column called id that is not suitable as the key. */
function notKeyWarnings(column: ColumnSketch, profile: FileProfile): string[] {
  if (column.name.trim().toLowerCase() !== 'id') return []
  const why = whyNoKey(column, profile)
  return why === null ? [] : [`not the key: ${why}`]
}

/** Whether future values must differ. That few values, or amounts, differ so far proves little. */
function isUnique(column: ColumnSketch, type: LogicalType): boolean {
  if (column.differs !== true || (type !== 'string' && type !== 'integer')) return false
  if (column.looksLikeKey) return column.count >= SOME_VALUES
  return type === 'string' && column.plain && column.kinds.size === 1 && column.count >= MANY_VALUES
}

function closedList({ listed, kinds, count }: ColumnSketch, type: LogicalType): readonly string[] | null {
  if (type !== 'string' || listed === null || listed.size < 2 || kinds.size !== 1) return null
  return count >= listed.size * USES_OF_LISTED ? [...listed.keys()].toSorted() : null
}
