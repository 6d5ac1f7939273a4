import { QueryError } from '../../../errors/service-error.ts'
import { ENGINE_LIMITS } from './sql-limits.ts'
import { shown } from '../../rules/sql/sql-errors.ts'
import { inMebibytes } from '../../query-limits.ts'

/** Longest message that is passed on; SQLite repeats pieces of the statement, however long. */
const MAX_MESSAGE = 500

/** SQLite's primary result codes for errors of a statement, not of the store or the program. */
const ERROR = 1
const NOMEM = 7
const TOOBIG = 18
const MISMATCH = 20
const RANGE = 25

/**
 * Turns an error of compiling or running a statement from a user into a QueryError with SQLite's message, without internal
 * names of the store. Returns errors that are not caused by the statement unchanged.
 */
export function toQueryError(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  switch (error.errcode & 0xff) {
    case TOOBIG:
      return new QueryError(
        `a value is larger than ${inMebibytes(ENGINE_LIMITS.length)}, or the statement is too long`,
        'query_too_long',
      )
    case NOMEM:
      // SQLite also reports this for a statement of too many instructions (`vdbeOp`), such as a list of many values.
      return new QueryError('the statement is too long, or needs more memory than there is', 'query_too_long')
    case ERROR:
    case MISMATCH:
    case RANGE:
      return statementError(error.message)
    default:
      return error
  }
}

function statementError(message: string): QueryError {
  const table = /^no such table: (?:[^.]*\.)?(.*)$/s.exec(message)?.[1]
  return table === undefined
    ? new QueryError(scrubbed(message))
    : new QueryError(scrubbed(noSuchTable(table)), 'unknown_table')
}

function scrubbed(message: string): string {
  const clean = message.replaceAll(/\$[A-Za-z_]\w*/g, '…')
  return clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE)}…` : clean
}

/** Returns the message for an unknown table, the same whether a hidden table of that name exists or not. */
export function noSuchTable(name: string): string {
  // Internal names are never shown, not even invented ones.
  if (name.startsWith('$')) return 'that table cannot be read: the only table is "records"'
  const table = name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return `no such table: ${shown(table)}; the only table is "records"`
}
