import type { Condition, ConditionField, Operand, CellCondition } from '../../condition.ts'
import { ConditionCompiler, foldedPosition, noSql } from '../../rules/sql/condition-compiler.ts'
import { momentOf, quoted } from '../database/schema.ts'

/** Puts a value into a statement, and returns its placeholder. */
export type PutOperand = (value: string | number) => string

/** An expression with its parameters, in their order. */
export interface BoundCondition {
  readonly sql: string
  readonly params: readonly (string | number)[]
}

/** Compiles conditions on cells. */
type OfCells = (condition: CellCondition) => string

/** Compiles a condition to an expression over the columns of a table. */
export function bindCondition(condition: Condition, table: string, ofCells: OfCells): BoundCondition {
  const params: (string | number)[] = []
  const put: PutOperand = (value) => {
    params.push(value)
    return '?'
  }
  return { sql: new ConditionSql({ table, put, ofCells }).compile(condition), params }
}

/** Compiles a condition on fields to text that a person can edit and use as a filter, with its values as literals. */
export function conditionText(condition: Condition): string {
  const put: PutOperand = (value) =>
    typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
  return new ConditionSql({ table: 'records', put, ofCells: noSql }).compile(condition)
}

interface ConditionParts {
  readonly table: string
  readonly put: PutOperand
  readonly ofCells: OfCells
}

class ConditionSql extends ConditionCompiler {
  protected readonly isNot = 'IS NOT'
  readonly #table: string
  readonly #put: PutOperand
  readonly #ofCells: OfCells

  constructor({ table, put, ofCells }: ConditionParts) {
    super()
    this.#table = table
    this.#put = put
    this.#ofCells = ofCells
  }

  protected ofCells(condition: CellCondition): string {
    return this.#ofCells(condition)
  }

  protected column({ name }: ConditionField): string {
    return quoted(name)
  }

  protected comparable({ type }: ConditionField, sql: string): string {
    return type === 'timestamp' ? momentOf(sql) : sql
  }

  protected value(_field: ConditionField, value: Exclude<Operand, null>): string {
    return this.#put(typeof value === 'boolean' ? Number(value) : value)
  }

  protected place(sql: string, wanted: string): string {
    return placeOf(sql, wanted, this.#put)
  }

  protected searched({ name, type }: ConditionField, wanted: string): string {
    const column = quoted(name)
    // SQLite writes whole numbers of this type with `.0`.
    return type === 'number' && /\.|^0$/.test(wanted)
      ? `iif(${column} = CAST(${column} AS INTEGER), CAST(${column} AS INTEGER), ${column})`
      : column
  }

  protected joined(texts: readonly string[]): string {
    return `concat_ws(char(31), ${texts.join(', ')})`
  }

  protected nestedContains(field: ConditionField, wanted: string): string {
    const inKey = `typeof(item.key) = 'text' AND ${this.place('item.key', wanted)} > 0`
    const inValue = `item.type IN ('text', 'integer', 'real') AND ${this.place('item.atom', wanted)} > 0`
    return `EXISTS (SELECT 1 FROM json_tree(${this.#qualified(field)}) AS item WHERE ${inKey} OR ${inValue})`
  }

  protected hasAny(field: ConditionField, items: readonly Operand[]): string {
    const kinds = Map.groupBy(items, (item) => (item === null ? 'null' : typeof item))
    const matches = [...kinds].map(([kind, ofKind]) => {
      const listed = (): string => ofKind.map((item) => this.value(field, item ?? '')).join(', ')
      switch (kind) {
        case 'string':
          return `item.type = 'text' AND item.atom IN (${listed()})`
        case 'number':
          return `item.type IN ('integer', 'real') AND item.atom IN (${listed()})`
        case 'boolean':
          return `item.type IN (${ofKind.map((flag) => `'${flag}'`).join(', ')})`
        default:
          return `item.type = 'null'`
      }
    })
    const each = `json_each(${this.#qualified(field)}) AS item`
    return `EXISTS (SELECT 1 FROM ${each} WHERE ${matches.join(' OR ')})`
  }

  protected hasAll(field: ConditionField, items: readonly Operand[]): string {
    return items.map((item) => this.hasAny(field, [item])).join(' AND ')
  }

  /** Returns the column with its table, since json_each has columns whose names fields can have. */
  #qualified({ name }: ConditionField): string {
    return `${this.#table}.${quoted(name)}`
  }
}

/** Returns SQL for the position at which a text begins in another, ignoring case; 0 for none. */
export function placeOf(sql: string, wanted: string, put: PutOperand): string {
  return foldedPosition('instr', { sql, wanted }, put)
}
