import type { JsonObject } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { Formula, FormulaDialect } from '../../../store/formula.ts'
import type { Result } from '../../../errors/result.ts'
import type { QueryRow, RecordsQuery } from '../../../store/records-query.ts'
import { didYouMean } from '../../definition/did-you-mean.ts'
import type { ParseContext } from '../../definition/derivation-kind.ts'
import { isStatement, parseQuery } from './query-spec.ts'

/** A file of kind `sql`: a formula over the fields of one record, or a query over all records. */
export type SqlSpec = FormulaSpec | QuerySpec

export interface FormulaSpec {
  readonly target: string
  readonly formula: Formula
}

export interface QuerySpec {
  readonly query: RecordsQuery
  /** The results of the query, by the JSON of the values of its inputs; null before it is run. */
  readonly found: ReadonlyMap<string, Result<QueryRow, string>> | null
}

const KEYS = ['expression', 'output_schema']

const EXAMPLES =
  '; write a formula over the fields of one record, such as upper(name) or population / nullif(area, 0), or a query over all records that begins with SELECT'

/** Reads the keys of a file of kind `sql`. Throws ContractError. */
export function parseSql(
  file: JsonObject,
  targets: readonly string[],
  { dialect, context }: { readonly dialect: FormulaDialect; readonly context: ParseContext },
): SqlSpec {
  const unknown = Object.keys(file).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) {
    context.fail(
      [unknown],
      `unknown key "${unknown}"; kind sql has ${KEYS.join(', ')}${didYouMean(unknown, KEYS)}`,
    )
  }
  const expression = textOf(file, context)
  if (isStatement(expression)) {
    const outputSchema = Object.hasOwn(file, 'output_schema') ? file['output_schema'] : undefined
    return { query: parseQuery(expression, targets, { dialect, context, outputSchema }), found: null }
  }
  if (Object.hasOwn(file, 'output_schema'))
    context.fail(['output_schema'], 'output_schema is for queries; a formula fills one field')
  const [target = '', ...others] = targets
  if (others.length > 0) {
    context.fail(['targets'], `a formula fills one field; write a file for each of ${targets.join(', ')}`)
  }
  const { fields, fieldByName } = context.contract
  const names = readNames(expression, { dialect, context })
  return {
    target,
    formula: {
      expression,
      inputs: fields.filter(({ name }) => names.includes(name)).map(({ name, type }) => ({ name, type })),
      type: fieldByName.get(target)?.type ?? 'string',
    },
  }
}

function readNames(
  expression: string,
  { dialect, context }: { readonly dialect: FormulaDialect; readonly context: ParseContext },
): readonly string[] {
  const { fields } = context.contract
  try {
    return dialect.read(expression, fields)
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return failOf(error.message + hintFor(error.message, fields), context)
  }
}

/** Throws a ContractError for the expression of a file. */
export function failOf(message: string, context: ParseContext): never {
  return context.fail(['expression'], `expression cannot be used: ${message}`)
}

/** Returns a hint for a statement or a mistake in writing, and for a name that the engine does not know. */
function hintFor(message: string, fields: readonly { readonly name: string }[]): string {
  if (/syntax error|not one expression|cannot have a SELECT/.test(message)) return EXAMPLES
  const [, unknown] = /^(?:no such column: |column )"?([^"\s]+)"?/.exec(message) ?? []
  if (unknown === undefined) return ''
  return didYouMean(
    unknown,
    fields.map(({ name }) => name),
  )
}

function textOf(file: JsonObject, context: ParseContext): string {
  const value = Object.hasOwn(file, 'expression') ? (file['expression'] ?? null) : null
  if (value === null) return context.fail([], 'expression is missing; write a formula, such as upper(name)')
  if (typeof value === 'string' && value.trim() !== '') return value.trim()
  return context.fail(
    ['expression'],
    `expression is ${showValue(value)}; write a formula as text, such as upper(name)`,
  )
}
