import { isOfType } from '../../api/is-of-type.ts'
import type { FieldType, SheetContract, SheetField } from '../../api/contract.ts'

export type ResultRow = Readonly<Record<string, unknown>>

export interface ResultColumn {
  readonly name: string
  /** The field with this name, if the values fit it. */
  readonly field: SheetField | null
  /** Null for values of several types, or none. */
  readonly type: FieldType | null
}

/** The number of rows from which types are inferred. */
const SAMPLED_ROWS = 1000

/** Infers the columns of a result from its rows. */
export function columnsOf(
  names: readonly string[],
  rows: readonly ResultRow[],
  contract: SheetContract,
): readonly ResultColumn[] {
  const seen = rows.slice(0, SAMPLED_ROWS)
  return names.map((name) => {
    const values = seen.map((row) => row[name]).filter((value) => value !== null)
    const field = contract.fieldByName.get(name) ?? null
    // A column may have the name of a field but other values, such as count(*) AS name.
    const fits = field !== null && values.every((value) => isOfType(field.type, value))
    return fits ? { name, field, type: field.type } : { name, field: null, type: typeOf(values) }
  })
}

const DATE = /^\d{4}-\d\d-\d\d$/
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

function typeOf(values: readonly unknown[]): FieldType | null {
  if (values.length === 0) return null
  const all = (is: (value: unknown) => boolean): boolean => values.every((value) => is(value))
  if (all(Number.isInteger)) return 'integer'
  if (all((value) => typeof value === 'number')) return 'number'
  if (all((value) => typeof value === 'boolean')) return 'boolean'
  if (all(Array.isArray)) return 'array'
  if (all((value) => typeof value === 'string' && DATE.test(value))) return 'date'
  if (all((value) => typeof value === 'string' && TIMESTAMP.test(value))) return 'timestamp'
  if (all((value) => typeof value === 'string')) return 'string'
  return all((value) => isOfType('object', value)) ? 'object' : null
}

export function isNumeric({ type }: ResultColumn): boolean {
  return type === 'integer' || type === 'number'
}
