import { QueryError } from '../../../errors/service-error.ts'
import { shown } from './sql-errors.ts'
import { DATA_TABLE } from './sql-guard.ts'
import { scanSql, type SqlScan, type SqlToken } from './sql-lexer.ts'
import { inMebibytes, MAX_SQL_BYTES } from '../../query-limits.ts'

/** Text from a user that passed the checks. */
export interface CheckedSql {
  /** What to compile: without the trailing `;`. */
  readonly text: string
  /** What stands in it and could name a table, in small letters. */
  readonly names: ReadonlySet<string>
}

/** Checks what SQLite would not tell of a statement (D18). Throws QueryError. */
export function checkStatement(sql: string, parameters: number): CheckedSql {
  checkLength(sql, 'statement')
  const scan = scanSql(sql)
  checkTokens(scan, 'statement')
  if (scan.first === '') throw new QueryError('the statement is empty')
  const verb = mainVerb(scan)
  if (verb !== 'SELECT')
    throw new QueryError(`only SELECT statements can be run, not ${shown(verb)}`, 'not_select')
  if (scan.semicolon === 'inside') {
    throw new QueryError('only one statement can be run: there is text after its semicolon', 'not_select')
  }
  const { otherPlaceholder, plainPlaceholders } = scan
  if (otherPlaceholder !== null) {
    throw new QueryError(
      `the placeholder ${shown(otherPlaceholder)} cannot be used: params are positional, write ?`,
      'wrong_parameters',
    )
  }
  if (plainPlaceholders !== parameters) {
    throw new QueryError(
      `placeholders in the statement: ${plainPlaceholders}, values in params: ${parameters}`,
      'wrong_parameters',
    )
  }
  return { text: scan.statement, names: scan.names }
}

/** Checks what SQLite would not tell of a filter (D16). Throws QueryError. */
export function checkFilter(filter: string): CheckedSql {
  checkLength(filter, 'filter')
  const scan = scanSql(filter)
  checkTokens(scan, 'filter')
  if (scan.first === '') throw new QueryError('the filter is empty')
  if (scan.semicolon !== 'none')
    throw new QueryError('a filter is one expression: it cannot have a semicolon')
  if (scan.otherPlaceholder !== null || scan.plainPlaceholders > 0) {
    throw new QueryError(
      `a filter cannot have placeholders: ${shown(scan.otherPlaceholder ?? '?')}`,
      'wrong_parameters',
    )
  }
  if (scan.endsInComment) {
    throw new QueryError('a comment runs to the end of the filter: end it with */ or a line break')
  }
  return { text: filter, names: scan.names }
}

/** Throws QueryError for a text that is longer than SQL from a user may be. */
export function checkLength(text: string, what: 'statement' | 'filter'): void {
  if (Buffer.byteLength(text) <= MAX_SQL_BYTES) return
  throw new QueryError(`the ${what} is longer than ${inMebibytes(MAX_SQL_BYTES)}`, 'query_too_long')
}

function checkTokens(scan: SqlScan, what: string): void {
  if (scan.illegal !== null) throw new QueryError(`the ${what} ${fault(scan.illegal)}`)
  // The guard relies on nobody calling the table behind the view by name.
  if (scan.names.has(DATA_TABLE))
    throw new QueryError(`a name in the ${what} is reserved`, 'forbidden_function')
}

function fault(token: SqlToken): string {
  if (token.text.includes('\0')) return 'has a NUL character (U+0000)'
  if (token.kind === 'unterminated') return `has a quote that is never closed: ${shown(token.text)}`
  return `has something that is no SQL: ${shown(token.text)}`
}

/** The word that says what the statement does; behind WITH, the first such word outside brackets. */
function mainVerb({ first, outer }: SqlScan): string {
  if (first !== 'WITH') return first
  return outer.find((word) => /^(?:SELECT|VALUES|INSERT|UPDATE|DELETE)$/.test(word)) ?? 'SELECT'
}
