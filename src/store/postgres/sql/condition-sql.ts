import {
  foldCase,
  type Condition,
  type ConditionField,
  type FieldCondition,
  type Operand,
} from '../../condition.ts'
import { momentOf } from '../database/field-indexes.ts'
import { quoted } from '../database/schema.ts'
import { toColumnText } from '../database/values.ts'
import { OID, type PutParam } from './sort-sql.ts'
import type { TypedParam } from './wire-query.ts'

/** Compiles a condition to an expression over columns named as the fields. */
export function conditionSql(condition: Condition, param: PutParam): string {
  return new ConditionSql(param).of(condition)
}

/** Compiles a condition to text that a person can edit and use as a filter, with its values as literals. */
export function conditionText(condition: Condition): string {
  return conditionSql(condition, ({ text, type }) => {
    const literal = `'${(text ?? '').replaceAll("'", "''")}'`
    switch (type) {
      case OID.int8:
      case OID.numeric:
      case OID.boolean:
        return String(text)
      case OID.date:
        return `date ${literal}`
      case OID.timestamptz:
        return `timestamptz ${literal}`
      case OID.jsonb:
        return `${literal}::jsonb`
      default:
        return literal
    }
  })
}

/** Compiles conditions to expressions that need no brackets where AND joins them. */
class ConditionSql {
  readonly #param: PutParam

  constructor(param: PutParam) {
    this.#param = param
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
    const column = comparable(field, quoted(field.name))
    const first = (): string => this.#operand(field, operands[0] ?? null)
    switch (operator) {
      case 'equals':
        return `${column} = ${first()}`
      case 'notEquals':
        return `${column} IS DISTINCT FROM ${first()}`
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
        return `${placeOf(quoted(field.name), String(operands[0]), this.#param)} = 1`
      case 'anyOf':
        return this.#anyOf(field, operands)
      case 'noneOf':
        return `(${this.#anyOf(field, operands)}) IS NOT TRUE`
      case 'hasAny':
        return this.#hasItems(field, operands, ' OR ')
      case 'hasAll':
        return this.#hasItems(field, operands, ' AND ')
      case 'hasNone':
        return `(${this.#hasItems(field, operands, ' OR ')}) IS NOT TRUE`
      case 'empty':
        return `${quoted(field.name)} IS NULL`
      case 'notEmpty':
        return `${quoted(field.name)} IS NOT NULL`
    }
  }

  #operand(field: ConditionField, value: Operand): string {
    return value === null ? 'NULL' : comparable(field, this.#param(operandParam(field, value)))
  }

  #anyOf(field: ConditionField, operands: readonly Operand[]): string {
    const isEmpty = `${quoted(field.name)} IS NULL`
    const values = operands.filter((value) => value !== null)
    if (values.length === 0) return isEmpty
    const column = comparable(field, quoted(field.name))
    const listed = `${column} IN (${values.map((value) => this.#operand(field, value)).join(', ')})`
    return values.length === operands.length ? listed : `(${listed} OR ${isEmpty})`
  }

  #contains(field: ConditionField, wanted: string): string {
    const column = quoted(field.name)
    const isIn = (text: string): string => `${placeOf(text, wanted, this.#param)} > 0`
    if (field.type !== 'array' && field.type !== 'object') return isIn(column)
    const keys = `jsonb_path_query(${column}, '$.** ? (@.type() == "object").keyvalue().key')`
    const values = `jsonb_path_query(${column}, '$.** ? (@.type() == "string" || @.type() == "number")')`
    const each = [keys, values].map(
      (items) => `EXISTS (SELECT 1 FROM ${items} AS item WHERE ${isIn(`((item #>> '{}') COLLATE "C")`)})`,
    )
    return `(${each.join(' OR ')})`
  }

  /** Returns the condition that an array has any of the items, or all. */
  #hasItems({ name }: ConditionField, items: readonly Operand[], operator: ' OR ' | ' AND '): string {
    const each = items.map(
      (item) => `${quoted(name)} @> ${this.#param({ text: JSON.stringify([item]), type: OID.jsonb })}`,
    )
    return `(${each.join(operator)})`
  }
}

/** Returns the SQL by which a field is compared: timestamps by their time to the millisecond. */
function comparable({ type }: ConditionField, sql: string): string {
  return type === 'timestamp' ? momentOf(sql) : sql
}

function operandParam(field: ConditionField, value: string | number | boolean): TypedParam {
  const text = toColumnText(field, value)
  switch (field.type) {
    case 'integer':
      return { text, type: Number.isSafeInteger(value) ? OID.int8 : OID.numeric }
    case 'number':
      return { text, type: OID.numeric }
    case 'boolean':
      return { text, type: OID.boolean }
    case 'date':
      return { text, type: OID.date }
    case 'timestamp':
      return { text, type: OID.timestamptz }
    case 'string':
    case 'time':
    case 'array':
    case 'object':
      return { text, type: OID.text }
  }
}

/**
 * Returns SQL for the position at which a text begins in another, ignoring case; 0 for none. The other has the collation
 * "C", in which only ASCII letters have another case, as in SQLite.
 */
export function placeOf(sql: string, wanted: string, param: PutParam): string {
  const { text, replaced } = foldCase(wanted)
  const put = (value: string): string => param({ text: value, type: OID.text })
  const folded = replaced.reduce(
    (inner, { capital, small }) => `replace(${inner}, ${put(capital)}, ${put(small)})`,
    `lower(${sql})`,
  )
  return `strpos(${folded}, ${put(text)})`
}
