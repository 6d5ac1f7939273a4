import {
  foldCase,
  type Condition,
  type ConditionField,
  type FieldCondition,
  type Operand,
} from '../../condition.ts'
import { momentOf, quoted } from '../database/schema.ts'

/** Puts a value into a statement, and returns its placeholder. */
export type PutOperand = (value: string | number) => string

/** An expression with its parameters, in their order. */
export interface BoundCondition {
  readonly sql: string
  readonly params: readonly (string | number)[]
}

/** Compiles a condition to an expression over the columns of a table. */
export function bindCondition(condition: Condition, table: string): BoundCondition {
  const params: (string | number)[] = []
  const put: PutOperand = (value) => {
    params.push(value)
    return '?'
  }
  return { sql: new ConditionSql(table, put).of(condition), params }
}

/** Compiles a condition to text that a person can edit and use as a filter, with its values as literals. */
export function conditionText(condition: Condition): string {
  const put: PutOperand = (value) =>
    typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
  return new ConditionSql('records', put).of(condition)
}

/** Compiles conditions to expressions that need no brackets where AND joins them. */
class ConditionSql {
  readonly #table: string
  readonly #put: PutOperand

  constructor(table: string, put: PutOperand) {
    this.#table = table
    this.#put = put
  }

  of(condition: Condition): string {
    switch (condition.kind) {
      case 'and':
        return condition.conditions.map((each) => this.of(each)).join(' AND ')
      case 'or':
        return `(${condition.conditions.map((each) => this.of(each)).join(' OR ')})`
      case 'not':
        return `(${this.of(condition.condition)}) IS NOT TRUE`
      case 'field':
        return this.#ofField(condition)
    }
  }

  #ofField({ field, operator, operands }: FieldCondition): string {
    const column = this.#comparable(field, quoted(field.name))
    const first = (): string => this.#operand(field, operands[0] ?? null)
    switch (operator) {
      case 'equals':
        return `${column} = ${first()}`
      case 'notEquals':
        return `${column} IS NOT ${first()}`
      case 'lessThan':
        return `${column} < ${first()}`
      case 'atMost':
        return `${column} <= ${first()}`
      case 'greaterThan':
        return `${column} > ${first()}`
      case 'atLeast':
        return `${column} >= ${first()}`
      case 'between':
        return `${column} BETWEEN ${first()} AND ${this.#operand(field, operands[1] ?? null)}`
      case 'contains':
        return this.#contains(field, String(operands[0]))
      case 'notContains':
        return `(${this.#contains(field, String(operands[0]))}) IS NOT TRUE`
      case 'startsWith':
        return `${this.#place(quoted(field.name), String(operands[0]))} = 1`
      case 'anyOf':
        return this.#anyOf(field, operands)
      case 'noneOf':
        return `(${this.#anyOf(field, operands)}) IS NOT TRUE`
      case 'hasAny':
        return this.#hasItem(field, operands)
      case 'hasAll':
        return operands.map((item) => this.#hasItem(field, [item])).join(' AND ')
      case 'hasNone':
        return `NOT ${this.#hasItem(field, operands)}`
      case 'empty':
        return `${quoted(field.name)} IS NULL`
      case 'notEmpty':
        return `${quoted(field.name)} IS NOT NULL`
    }
  }

  /**
   * Returns the SQL by which a field is compared: timestamps, which may have different offsets, by their time to the
   * millisecond.
   */
  #comparable({ type }: ConditionField, sql: string): string {
    return type === 'timestamp' ? momentOf(sql) : sql
  }

  #operand(field: ConditionField, value: Operand): string {
    return this.#comparable(field, this.#literal(value))
  }

  #literal(value: Operand): string {
    if (value === null) return 'NULL'
    return this.#put(typeof value === 'boolean' ? Number(value) : value)
  }

  #anyOf(field: ConditionField, operands: readonly Operand[]): string {
    const isEmpty = `${quoted(field.name)} IS NULL`
    const values = operands.filter((value) => value !== null)
    if (values.length === 0) return isEmpty
    const column = this.#comparable(field, quoted(field.name))
    const listed = `${column} IN (${values.map((value) => this.#operand(field, value)).join(', ')})`
    return values.length === operands.length ? listed : `(${listed} OR ${isEmpty})`
  }

  #contains(field: ConditionField, wanted: string): string {
    if (field.type !== 'array' && field.type !== 'object')
      return `${this.#place(quoted(field.name), wanted)} > 0`
    const inKey = `typeof(item.key) = 'text' AND ${this.#place('item.key', wanted)} > 0`
    const inValue = `item.type IN ('text', 'integer', 'real') AND ${this.#place('item.atom', wanted)} > 0`
    return `EXISTS (SELECT 1 FROM json_tree(${this.#qualified(field)}) AS item WHERE ${inKey} OR ${inValue})`
  }

  /** Returns SQL for the position at which a text begins in another, ignoring case; 0 for none. */
  #place(sql: string, wanted: string): string {
    return placeOf(sql, wanted, this.#put)
  }

  /** Returns the condition that an array has any of the items. */
  #hasItem(field: ConditionField, items: readonly Operand[]): string {
    const kinds = Map.groupBy(items, (item) => (item === null ? 'null' : typeof item))
    const matches = [...kinds].map(([kind, ofKind]) => {
      const listed = (): string => ofKind.map((item) => this.#literal(item)).join(', ')
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
    const items_ = `json_each(${this.#qualified(field)}) AS item`
    return `EXISTS (SELECT 1 FROM ${items_} WHERE ${matches.join(' OR ')})`
  }

  /** Returns the column with its table, since json_each has columns whose names fields can have. */
  #qualified({ name }: ConditionField): string {
    return `${this.#table}.${quoted(name)}`
  }
}

/** Returns SQL for the position at which a text begins in another, ignoring case; 0 for none. */
export function placeOf(sql: string, wanted: string, put: PutOperand): string {
  const { text, replaced } = foldCase(wanted)
  const folded = replaced.reduce(
    (inner, { capital, small }) => `replace(${inner}, ${put(capital)}, ${put(small)})`,
    `lower(${sql})`,
  )
  return `instr(${folded}, ${put(text)})`
}
