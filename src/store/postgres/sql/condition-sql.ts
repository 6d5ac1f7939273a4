import type { Condition, ConditionField, Operand, CellCondition } from '../../condition.ts'
import { ConditionCompiler, foldedPosition, noSql } from '../../rules/sql/condition-compiler.ts'
import { momentOf } from '../database/field-indexes.ts'
import { quoted } from '../database/schema.ts'
import { toColumnText } from '../database/values.ts'
import { OID, type PutParam } from './sort-sql.ts'
import type { OfCells } from './cell-sql.ts'
import type { TypedParam } from './wire-query.ts'

/** Compiles a condition to an expression over columns named as the fields. */
export function conditionSql(condition: Condition, param: PutParam, ofCells: OfCells): string {
  return new ConditionSql(param, ofCells).compile(condition)
}

/** Compiles a condition on fields to text that a person can edit and use as a filter, with its values as literals. */
export function conditionText(condition: Condition): string {
  const put: PutParam = ({ text, type }) => {
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
  }
  return conditionSql(condition, put, noSql)
}

class ConditionSql extends ConditionCompiler {
  protected readonly isNot = 'IS DISTINCT FROM'
  readonly #param: PutParam
  readonly #ofCells: OfCells

  constructor(param: PutParam, ofCells: OfCells) {
    super()
    this.#param = param
    this.#ofCells = ofCells
  }

  protected ofCells(condition: CellCondition): string {
    return this.#ofCells(condition, this.#param)
  }

  protected column({ name }: ConditionField): string {
    return quoted(name)
  }

  protected comparable({ type }: ConditionField, sql: string): string {
    return type === 'timestamp' ? momentOf(sql) : sql
  }

  protected value(field: ConditionField, value: Exclude<Operand, null>): string {
    return this.#param(operandParam(field, value))
  }

  protected place(sql: string, wanted: string): string {
    return placeOf(sql, wanted, this.#param)
  }

  protected searched(field: ConditionField, wanted: string): string {
    return `(${searchedSql(field, wanted)} COLLATE "C")`
  }

  protected joined(texts: readonly string[]): string {
    return `concat_ws(chr(31), ${texts.join(', ')})`
  }

  protected nestedContains(field: ConditionField, wanted: string): string {
    const column = quoted(field.name)
    const keys = `jsonb_path_query(${column}, '$.** ? (@.type() == "object").keyvalue().key')`
    const values = `jsonb_path_query(${column}, '$.** ? (@.type() == "string" || @.type() == "number")')`
    const each = [keys, values].map(
      (items) =>
        `EXISTS (SELECT 1 FROM ${items} AS item WHERE ${this.place(`((item #>> '{}') COLLATE "C")`, wanted)} > 0)`,
    )
    return `(${each.join(' OR ')})`
  }

  protected hasAny(field: ConditionField, items: readonly Operand[]): string {
    return `(${this.#contained(field, items).join(' OR ')})`
  }

  protected hasAll(field: ConditionField, items: readonly Operand[]): string {
    return `(${this.#contained(field, items).join(' AND ')})`
  }

  /** Returns a condition for each item that the array contains it. */
  #contained({ name }: ConditionField, items: readonly Operand[]): readonly string[] {
    return items.map(
      (item) => `${quoted(name)} @> ${this.#param({ text: JSON.stringify([item]), type: OID.jsonb })}`,
    )
  }
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

/** Returns SQL for the text of a value in which a text is searched: moments as they are in JSON. */
function searchedSql({ name, type }: ConditionField, wanted: string): string {
  const column = quoted(name)
  switch (type) {
    case 'integer':
      // A comparison takes a tenth of the time of a text.
      if (!/^\d{2,18}$/.test(wanted)) return `${column}::text`
      return `CASE WHEN ${column} NOT BETWEEN -${shorter(wanted)} AND ${shorter(wanted)} THEN ${column}::text END`
    case 'number':
      // JSON writes no zeros after the last other digit of a fraction.
      return /[.0]/.test(wanted) ? `trim_scale(${column})::text` : `${column}::text`
    case 'timestamp':
      return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    default:
      return `${column}::text`
  }
}

/** Returns the greatest number with fewer digits than a text. */
function shorter(digits: string): string {
  return '9'.repeat(digits.length - 1)
}

/** Returns SQL for the position at which a text begins in another of the collation "C", ignoring case; 0 for none. */
export function placeOf(sql: string, wanted: string, param: PutParam): string {
  return foldedPosition('strpos', { sql, wanted }, (value) => param({ text: value, type: OID.text }))
}
