import { QueryError } from '../../../errors/service-error.ts'
import {
  checkPlaceholders,
  checkSqlLength,
  checkVerb,
  commentAtEnd,
  emptySql,
  namedPlaceholder,
  placeholderInFilter,
  reservedName,
  secondStatement,
  semicolonInFilter,
  shown,
} from '../../rules/sql-errors.ts'
import { DATA_TABLE } from './sql-guard.ts'
import { scanSql, type SqlScan, type SqlToken } from './sql-lexer.ts'

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

/** Checks what SQLite would not report about a filter (D16). Throws QueryError. */
export function checkFilter(filter: string): CheckedSql {
  checkSqlLength(filter, 'filter')
  const scan = scanSql(filter)
  checkTokens(scan, 'filter')
  if (scan.first === '') throw emptySql('filter')
  if (scan.semicolon !== 'none') throw semicolonInFilter()
  if (scan.otherPlaceholder !== null || scan.plainPlaceholders > 0)
    throw placeholderInFilter(scan.otherPlaceholder ?? '?')
  if (scan.endsInComment) throw commentAtEnd()
  return { text: filter, names: scan.names }
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
