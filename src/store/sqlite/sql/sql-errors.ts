import { QueryError } from '../../../errors/service-error.ts'
import { ENGINE_LIMITS } from './sql-limits.ts'
import { shown } from '../../rules/sql-errors.ts'
import { inMebibytes } from '../../query-limits.ts'

/** Longest message that is passed on; SQLite repeats pieces of the statement, however long. */
const MAX_MESSAGE = 500

/** SQLite's primary result codes for what is wrong with a statement, not with the store or the program. */
const ERROR = 1
const NOMEM = 7
const TOOBIG = 18
const MISMATCH = 20
const RANGE = 25

/**
 * Turns what went wrong while a statement from a user was compiled or run into a QueryError with SQLite's message,
 * without names of the store's inside. What is not the statement's fault comes back as it is.
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
      // SQLite's word for a statement of too many instructions as well (`vdbeOp`), such as a list of many values.
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

/** Says that there is no such table, in the same words whether there is one that is not to be known of or not. */
export function noSuchTable(name: string): string {
  // Internal names are shown to nobody, those that are made up included.
  if (name.startsWith('$')) return 'that table cannot be read: the only table is "records"'
  const table = name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return `no such table: ${shown(table)}; the only table is "records"`
}
