import { QueryError } from '../../../errors/service-error.ts'
import { MAX_FORMULA_BYTES, MAX_FORMULA_VALUES } from '../../formula.ts'
import { inMebibytes, MAX_RESPONSE_BYTES, MAX_PARAMS, MAX_SQL_BYTES } from '../../query-limits.ts'

/** SQL from a user: a statement, the filter of a list, or the formula of a derivation. */
export type SqlKind = 'statement' | 'filter' | 'formula'

/** Longest piece of a statement in a message. */
const MAX_SHOWN = 40

/** Returns a piece of a statement as messages show it, however long it is. */
export function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/** Throws QueryError for a text that is longer than SQL from a user may be. */
export function checkSqlLength(text: string, kind: SqlKind): void {
  if (Buffer.byteLength(text) <= MAX_SQL_BYTES) return
  throw new QueryError(`the ${kind} is longer than ${inMebibytes(MAX_SQL_BYTES)}`, 'query_too_long')
}

/** Throws QueryError for more values than a statement may have. */
export function checkParamCount(count: number): void {
  if (count > MAX_PARAMS)
    throw new QueryError(`params has more than ${MAX_PARAMS} values`, 'wrong_parameters')
}

/** Throws QueryError where a statement does not have one value for each placeholder. */
export function checkPlaceholders(placeholders: number, values: number): void {
  if (placeholders === values) return
  throw new QueryError(
    `placeholders in the statement: ${placeholders}, values in params: ${values}`,
    'wrong_parameters',
  )
}

/** Throws QueryError for a statement whose main word is not SELECT. */
export function checkVerb(verb: string): void {
  if (verb !== 'SELECT')
    throw new QueryError(`only SELECT statements can be run, not ${shown(verb)}`, 'not_select')
}

/** Returns the error for a text without SQL. */
export function emptySql(kind: SqlKind): QueryError {
  return new QueryError(`the ${kind} is empty`)
}

/** Returns the error for text after the semicolon of a statement. */
export function secondStatement(): QueryError {
  return new QueryError('only one statement can be run: there is text after its semicolon', 'not_select')
}

/** Returns the error for a semicolon in an expression. */
export function semicolonIn(kind: SqlKind): QueryError {
  return new QueryError(`a ${kind} is one expression: it cannot have a semicolon`)
}

/** Returns the error for a placeholder in an expression. */
export function placeholderIn(kind: SqlKind, placeholder: string): QueryError {
  return new QueryError(`a ${kind} cannot have placeholders: ${shown(placeholder)}`, 'wrong_parameters')
}

/** Returns the error for an expression that ends in a comment, which would swallow the SQL after it. */
export function commentAtEnd(kind: SqlKind): QueryError {
  return new QueryError(`a comment runs to the end of the ${kind}: end it with */ or a line break`)
}

/** Returns the error for a formula that has brackets without their counterparts. */
export function unbalancedFormula(): QueryError {
  return new QueryError('the formula is not one expression: its brackets do not match')
}

/** Throws QueryError for a formula that is longer than a formula may be. */
export function checkFormulaLength(expression: string): void {
  if (Buffer.byteLength(expression) <= MAX_FORMULA_BYTES) return
  throw new QueryError(`the formula is longer than ${MAX_FORMULA_BYTES / 1024} KiB`, 'query_too_long')
}

/** Returns the error for a function whose result depends on more than its arguments. */
export function notDeterministic(name: string): QueryError {
  return new QueryError(
    `${name} cannot be used in a formula: its value depends on more than the record, such as the current time or random values`,
    'forbidden_function',
  )
}

/** Returns the error for such a function in a query of a derivation. */
export function notDeterministicInQuery(name: string): QueryError {
  return new QueryError(
    `${name} cannot be used in a derivation: its value depends on more than the records, such as the current time or random values`,
    'forbidden_function',
  )
}

/** Returns the error for a query with several rows of which none comes first. */
export function severalRows(): QueryError {
  return new QueryError(
    'the query returned more than one row; add ORDER BY to take the first, or conditions that leave one',
  )
}

/** Throws QueryError for a query that is longer than one of a derivation may be. */
export function checkQueryLength(statement: string): void {
  if (Buffer.byteLength(statement) <= MAX_FORMULA_BYTES) return
  throw new QueryError(`the query is longer than ${MAX_FORMULA_BYTES / 1024} KiB`, 'query_too_long')
}

/** Returns the names of the fields of placeholders, `?` and `:field`, in their order. Throws QueryError. */
export function placeholderFields(
  placeholders: readonly string[],
  {
    listed,
    fields,
  }: { readonly listed: readonly string[]; readonly fields: readonly { readonly name: string }[] },
): readonly string[] {
  const plain = placeholders.filter((text) => text === '?').length
  if (plain > 0 && plain !== listed.length) {
    throw new QueryError(
      `the query has ${plain} placeholders ?, and inputs lists ${listed.length} fields; each ? is the next of them, and :field is the field of that name`,
      'wrong_parameters',
    )
  }
  let next = 0
  return placeholders.map((text) => {
    if (text === '?') return listed[next++] ?? ''
    const name = text.slice(1)
    if (!text.startsWith(':')) throw namedPlaceholder(text)
    if (!fields.some((field) => field.name === name)) {
      throw new QueryError(
        `the placeholder ${shown(text)} names no field of the contract`,
        'wrong_parameters',
      )
    }
    return name
  })
}

/** Returns the error for a SELECT in a formula. */
export function subqueryInFormula(): QueryError {
  return new QueryError('a formula computes from the fields of one record: it cannot have a SELECT')
}

/** Returns the error for a function over several records. */
export function aggregateInFormula(): QueryError {
  return new QueryError(
    'a formula computes from the fields of one record: it cannot use functions over several records, such as sum and count',
  )
}

/** Returns the error for a placeholder with a name or a number. */
export function namedPlaceholder(placeholder: string): QueryError {
  return new QueryError(
    `the placeholder ${shown(placeholder)} cannot be used: params are positional, write ?`,
    'wrong_parameters',
  )
}

/** Returns the error for a name that only the store uses. */
export function reservedName(kind: string): QueryError {
  return new QueryError(`a name in the ${kind} is reserved`, 'forbidden_function')
}

/** Returns the error for a result with two columns of one name. */
export function duplicateColumn(name: string): QueryError {
  return new QueryError(
    `two columns of the result are called ${JSON.stringify(shown(name))}: name one of them with AS`,
    'duplicate_column',
  )
}

/** Returns the error for a response beyond its limit. */
export function resultTooLarge(): QueryError {
  return new QueryError(
    `the result is larger than ${inMebibytes(MAX_RESPONSE_BYTES)}: select less`,
    'result_too_large',
  )
}

/** Returns the error for values of a formula beyond their limit. */
export function valueTooLarge(): QueryError {
  return new QueryError(`the value is larger than ${inMebibytes(MAX_FORMULA_VALUES)}`, 'result_too_large')
}

/** Returns the error for a query that ran longer than its limit, in milliseconds. */
export function queryTimeout(ms: number): QueryError {
  return stopped(`the query took longer than ${ms / 1000} s`)
}

/** Returns the error for a query whose client has disconnected. */
export function queryAbandoned(): QueryError {
  return stopped('the query was abandoned by its client')
}

function stopped(why: string): QueryError {
  return new QueryError(`${why} and was stopped`, 'query_timeout')
}

/** Returns the error for a full queue. */
export function tooManyQueries(): QueryError {
  return new QueryError('too many queries at once: try again later', 'too_many_queries')
}
