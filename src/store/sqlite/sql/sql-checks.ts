import { QueryError } from '../../../errors/service-error.ts'
import {
  checkFormulaLength,
  checkPlaceholders,
  checkQueryLength,
  checkSqlLength,
  checkVerb,
  commentAtEnd,
  emptySql,
  namedPlaceholder,
  notDeterministic,
  notDeterministicInQuery,
  placeholderFields,
  placeholderIn,
  reservedName,
  secondStatement,
  semicolonIn,
  shown,
  unbalancedFormula,
} from '../../rules/sql/sql-errors.ts'
import { DATA_TABLE } from './sql-guard.ts'
import { DATE_FUNCTIONS } from './sql-functions.ts'
import { nameOf, scanSql, sqlTokens, type SqlScan, type SqlToken } from './sql-lexer.ts'

/** Text from a user that passed the checks. */
export interface CheckedSql {
  /** The text to compile: without the trailing `;`. */
  readonly text: string
  /** The names in it that could be tables, in small letters. */
  readonly names: ReadonlySet<string>
}

/** Checks what SQLite would not report about a statement (D18). Throws QueryError. */
export function checkStatement(sql: string, parameters: number): CheckedSql {
  checkSqlLength(sql, 'statement')
  const scan = scanSql(sql)
  checkTokens(scan, 'statement')
  if (scan.first === '') throw emptySql('statement')
  checkVerb(mainVerb(scan))
  if (scan.semicolon === 'inside') throw secondStatement()
  const { otherPlaceholder, plainPlaceholders } = scan
  if (otherPlaceholder !== null) throw namedPlaceholder(otherPlaceholder)
  checkPlaceholders(plainPlaceholders, parameters)
  return { text: scan.statement, names: scan.names }
}

/** A query of a derivation that passed the checks. */
export interface CheckedQuery extends CheckedSql {
  /** The names of the fields whose values the placeholders of the text have: `?1` the first, and so on. */
  readonly inputs: readonly string[]
  /** Whether one of several rows comes first. */
  readonly isOrdered: boolean
  /** The names in it that stand beside an equals sign, in small letters. */
  readonly compared: ReadonlySet<string>
}

/** Checks what SQLite would not report about a query of a derivation, and numbers its placeholders. Throws QueryError. */
export function checkRecordsQuery(
  sql: string,
  of: { readonly listed: readonly string[]; readonly fields: readonly { readonly name: string }[] },
): CheckedQuery {
  checkQueryLength(sql)
  const scan = scanSql(sql)
  checkTokens(scan, 'statement')
  if (scan.first === '') throw emptySql('statement')
  const verb = mainVerb(scan)
  if (verb !== 'VALUES') checkVerb(verb)
  if (scan.semicolon === 'inside') throw secondStatement()
  refusePresentTime(scan.statement, notDeterministicInQuery)
  const tokens = sqlTokens(scan.statement)
  const placeholders = tokens.filter(({ kind }) => kind === 'placeholder')
  const fields = placeholderFields(
    placeholders.map(({ text }) => text),
    of,
  )
  const inputs = [...new Set(fields)]
  let next = 0
  // Spaces keep adjacent characters from becoming part of the number.
  const text = tokens
    .map((token) =>
      token.kind === 'placeholder' ? ` ?${inputs.indexOf(fields[next++] ?? '') + 1} ` : token.text,
    )
    .join('')
  return {
    text,
    names: scan.names,
    inputs,
    isOrdered: scan.outer.includes('ORDER'),
    compared: comparedNames(tokens),
  }
}

function comparedNames(tokens: readonly SqlToken[]): ReadonlySet<string> {
  const significant = tokens.filter(({ kind }) => kind !== 'space' && kind !== 'comment')
  const names = new Set<string>()
  for (const [index, { text }] of significant.entries()) {
    if (text !== '=' && text !== '==') continue
    const isQualified = significant[index + 2]?.text === '.'
    for (const token of [significant[index - 1], significant[index + (isQualified ? 3 : 1)]]) {
      const name = token === undefined ? null : nameOf(token)
      if (name !== null) names.add(name)
    }
  }
  return names
}

/** Checks what SQLite would not report about a filter (D16). Throws QueryError. */
export function checkFilter(filter: string): CheckedSql {
  checkSqlLength(filter, 'filter')
  const scan = scanSql(filter)
  checkExpression(scan, 'filter')
  return { text: filter, names: scan.names }
}

/** Checks what SQLite would not report about a formula within brackets, or only when it computes. Throws QueryError. */
export function checkFormula(expression: string): void {
  checkFormulaLength(expression)
  const scan = scanSql(expression)
  checkExpression(scan, 'formula')
  if (!scan.isBalanced) throw unbalancedFormula()
  refusePresentTime(expression, notDeterministic)
}

function checkExpression(scan: SqlScan, what: 'filter' | 'formula'): void {
  checkTokens(scan, what)
  if (scan.first === '') throw emptySql(what)
  if (scan.semicolon !== 'none') throw semicolonIn(what)
  if (scan.otherPlaceholder !== null || scan.plainPlaceholders > 0)
    throw placeholderIn(what, scan.otherPlaceholder ?? '?')
  if (scan.endsInComment) throw commentAtEnd(what)
}

function checkTokens(scan: SqlScan, what: string): void {
  if (scan.illegal !== null) throw new QueryError(`the ${what} ${fault(scan.illegal)}`)
  // The guard requires that no statement names the table behind the view.
  if (scan.names.has(DATA_TABLE)) throw reservedName(what)
}

function fault(token: SqlToken): string {
  if (token.text.includes('\0')) return 'has a NUL character (U+0000)'
  if (token.kind === 'unterminated') return `has a quote that is never closed: ${shown(token.text)}`
  return `has something that is no SQL: ${shown(token.text)}`
}

/** Returns the keyword of the statement's action: after WITH, the first such keyword outside brackets. */
function mainVerb({ first, outer }: SqlScan): string {
  if (first !== 'WITH') return first
  return outer.find((word) => /^(?:SELECT|VALUES|INSERT|UPDATE|DELETE)$/.test(word)) ?? 'SELECT'
}

/**
 * Refuses the current time and the time zone of the machine where they are written in the formula: SQLite itself reports them only when
 * it computes. Throws QueryError.
 */
function refusePresentTime(expression: string, errorOf: typeof notDeterministic): void {
  const tokens = sqlTokens(expression).filter(({ kind }) => kind !== 'space' && kind !== 'comment')
  let called: string | null = null
  for (const [index, token] of tokens.entries()) {
    const name = token.text.toLowerCase()
    if (DATE_FUNCTIONS.has(name) && tokens[index + 1]?.text === '(') {
      called ??= name
      const isEmpty = tokens[index + 2]?.text === ')'
      const isFormatOnly = name === 'strftime' && isFormat(tokens.slice(index + 2, index + 4))
      if (isEmpty || isFormatOnly) throw errorOf(`${name}() without a date`)
    }
  }
  const word = tokens.find(
    ({ kind, text }) => kind === 'string' && /^'\s*(?:now|localtime|utc)\s*'$/i.test(text),
  )
  if (called !== null && word !== undefined) throw errorOf(`${called}() with ${word.text}`)
}

function isFormat([format, close]: readonly SqlToken[]): boolean {
  return format?.kind === 'string' && close?.text === ')'
}
