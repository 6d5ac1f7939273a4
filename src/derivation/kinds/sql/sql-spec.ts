import type { JsonObject } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { Formula, FormulaDialect } from '../../../store/formula.ts'
import { didYouMean } from '../../definition/did-you-mean.ts'
import type { ParseContext } from '../../definition/derivation-kind.ts'

/** A file of kind `sql`. */
export interface SqlSpec {
  readonly target: string
  readonly formula: Formula
}

const KEYS = ['expression']

const EXAMPLES =
  '; write a formula over the fields of one record, such as upper(name) or population / nullif(area, 0)'

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
