import type { Contract } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { Result } from '../../../errors/result.ts'
import type { Source } from '../../definition/derivation-kind.ts'

/** The columns of a table that a derivation reads. */
export interface TableColumns {
  /** The column whose values are compared with the field `match`, as values of its type. */
  readonly key: string
  readonly match: string
  /** The column of each target. */
  readonly values: { readonly [target: string]: string }
}

/** The rows of a table with one key. */
export interface TableRow {
  /** The values of the first row, by target; a cell without a value is null. */
  readonly values: JsonObject
  /** The number of rows with the key. */
  readonly count: number
}

/** The rows of a table by {@link keyText}. */
export type Table = ReadonlyMap<string, TableRow>

/** Reads a table from a file. Returns the reason as text if it cannot be read; never rejects because of the file. */
export type TableReader = (
  source: Source,
  columns: TableColumns,
  contract: Contract,
) => Promise<Result<Table, string>>

/** Returns the text by which keys are compared; null for a value that matches nothing. */
export function keyText(value: JsonValue): string | null {
  if (value === null || typeof value === 'object') return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}
