import type { Field, LogicalType } from '../contract/contract.ts'
import type { JsonValue } from '../contract/json/json.ts'
import type { TextEdit } from '../contract/yaml/edit/yaml-edit.ts'
import type { Result } from '../errors/result.ts'
import type { Dialect } from './dialect.ts'

/** The members of a field that a formula needs. */
export type FormulaField = Pick<Field, 'name' | 'type'>

/** A formula over the fields of one record: an expression in the SQL dialect of the store. */
export interface Formula {
  readonly expression: string
  /** The fields that it reads. */
  readonly inputs: readonly FormulaField[]
  /** The type that its values have in the contract. */
  readonly type: LogicalType
}

/** A formula in a derivation file. */
export interface FormulaInFile {
  readonly formula: Formula
  /** Throws a ContractError that names the file, the line of the formula and `message`. */
  fail(message: string): never
}

/** The most bytes of a formula: it is checked on the main thread. */
export const MAX_FORMULA_BYTES = 8 * 1024

/** The most bytes of the values of a formula that are computed together: the main thread reads them in one go. */
export const MAX_FORMULA_VALUES = 1024 * 1024

/**
 * Checks a formula without computing it, and returns the names of the fields that it reads, in their order. Throws QueryError with the
 * message of the engine for text that is no formula, and for a function whose result depends on more than its arguments.
 */
export type FormulaReader = (expression: string, fields: readonly FormulaField[]) => readonly string[]

/** Facts about a statement that the engine finds. */
export interface QueryFacts {
  /** The names of the fields of the record at hand. */
  readonly inputs: readonly string[]
  /** The names of the fields that it reads in all records; all that it may read where that is not certain. */
  readonly reads: readonly string[]
  /** The names of its columns; null where they are not certain. */
  readonly columns: readonly string[] | null
}

/**
 * Checks a statement without running it, and returns what it needs. Throws QueryError for what cannot be a query of a derivation, such as
 * a function whose result depends on more than the records.
 */
export type QueryReader = (
  statement: string,
  of: { readonly listed: readonly string[]; readonly fields: readonly FormulaField[] },
) => QueryFacts

/** A field with another name. */
export interface FieldRename {
  readonly from: string
  readonly to: string
}

/**
 * Returns the edits of a formula after which it reads a field by another name, at the places where the engine finds the field. Throws
 * QueryError for text that is no formula.
 */
export type FormulaRenamer = (
  expression: string,
  fields: readonly FormulaField[],
  rename: FieldRename,
) => readonly TextEdit[]

/**
 * Returns the edits of a query after which it reads a field by another name and has the same rows. Throws QueryError for text that is no
 * query, and where it cannot be edited for certain.
 */
export type QueryRenamer = (
  statement: string,
  of: { readonly listed: readonly string[]; readonly fields: readonly FormulaField[] },
  rename: FieldRename,
) => readonly TextEdit[]

/** The SQL dialect of a sheet's store, and how it reads and edits formulas and queries. */
export interface FormulaDialect {
  readonly name: Dialect
  readonly read: FormulaReader
  readonly readQuery: QueryReader
  readonly rename: FormulaRenamer
  readonly renameInQuery: QueryRenamer
}

/** The values of the inputs of a formula in one record, in their order. */
export type FormulaRow = readonly JsonValue[]

/** Computes formulas, within the limits of SQL from users (D19). */
export interface FormulaStore {
  /**
   * Returns the value of a formula for each row, in their order, or why it has none. Throws RecordsError for a store that cannot be used,
   * and the reason of the signal once that aborts.
   */
  computeFormula(
    formula: Formula,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Result<JsonValue, string>[]>
}
