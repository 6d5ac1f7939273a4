import { QueryError } from '../../../errors/service-error.ts'
import { shown as shortened } from '../../rules/sql/sql-errors.ts'
import { sqlState } from '../database/errors.ts'

/** Longest message that is passed on; PostgreSQL repeats pieces of the statement. */
const MAX_MESSAGE = 500

/**
 * Turns an error of parsing or running SQL from a user into a QueryError with PostgreSQL's message, without internal names
 * of the store and without the names in `hidden`. Returns errors that are not caused by the statement unchanged.
 */
export function toQueryError(error: unknown, hidden: readonly string[] = []): unknown {
  const state = sqlState(error)
  if (state === undefined || !(error instanceof Error)) return error
  const known = ERRORS[state]
  if (known !== undefined) return new QueryError(...known)
  const table = /^relation "(.*)" does not exist$/s.exec(error.message)?.[1]
  if (table !== undefined) return new QueryError(noSuchTable(table), 'unknown_table')
  return NOT_THE_STATEMENT.test(state) ? error : new QueryError(scrubbed(error.message, hidden))
}

/** Classes of errors of the connection, the server or the data; all others concern the statement or its values. */
const NOT_THE_STATEMENT = /^(?:08|28|3D|40|53|55P03|57|58|72|F0|XX)/

const ONLY_SELECT = 'only SELECT statements can be run'

const ERRORS: Readonly<Record<string, ConstructorParameters<typeof QueryError>>> = {
  '25006': [ONLY_SELECT, 'not_select'],
  '25001': [ONLY_SELECT, 'not_select'],
  '42501': [ONLY_SELECT, 'not_select'],
  '53200': ['the statement needs more memory than there is', 'query_memory'],
  '53400': ['the query needs more of the disk than it may use and was stopped', 'query_memory'],
  '54001': ['the statement is too long, or nested too deeply', 'query_too_long'],
  '57014': ['the query took too long and was stopped', 'query_timeout'],
  '58P01': ['the statement uses something that is not installed'],
  XX000: ['PostgreSQL cannot run the statement'],
}

function scrubbed(message: string, hidden: readonly string[]): string {
  const named = hidden.reduce((text, name) => text.replaceAll(name, '…'), message)
  const clean = named.replaceAll(/"?\$[A-Za-z_][\w$]*"?(?:\."?\$?\w+"?)?/g, '…')
  return clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE)}…` : clean
}

/** Returns the message for an unknown table, the same whether a hidden table of that name exists or not. */
export function noSuchTable(name: string): string {
  // Internal names are never shown, not even invented ones.
  if (name.startsWith('$')) return 'that table cannot be read: the only table is "records"'
  return `no such table: ${shown(name)}; the only table is "records"`
}

/** Returns a piece of a statement as messages show it, without what looks like an internal name of the store. */
export function shown(text: string): string {
  return shortened(text).replaceAll(/\$[A-Za-z_]\w*/g, '…')
}
