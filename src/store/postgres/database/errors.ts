import { fieldsChanged } from '../../revision-store.ts'
import { basename } from 'node:path'
import { DatabaseError } from 'pg'
import {
  LockTimeoutError,
  RecordsError,
  ServiceError,
  StoreAwayError,
} from '../../../errors/service-error.ts'

/** The SQLSTATE of an error of PostgreSQL; `undefined` for any other error. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined
}

/** Whether a connection is lost, or cannot be made: the next attempt may go well. */
export function isConnectionFault(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== undefined) return /^08|^25P0[34]|^57P0[1-5]/.test(state)
  if (fileOf(error) !== undefined) return false
  return systemCode(error) !== undefined || (error instanceof Error && LOST.test(error.message))
}

/** Whether a connection that had been made is lost. */
export function isLost(error: unknown): boolean {
  if (sqlState(error) !== undefined) return /^57P0[12]/.test(sqlState(error) ?? '')
  return (
    /^(ECONNRESET|EPIPE)$/.test(systemCode(error) ?? '') ||
    (error instanceof Error && ENDED.test(error.message))
  )
}

/** Whether a statement that a connection has prepared does not fit the tables any more. */
export function isStalePlan(error: unknown): boolean {
  return sqlState(error) === '0A000' && error instanceof Error && error.message.includes('cached plan')
}

/**
 * Turns an error about the database, and not about the program, into a RecordsError or LockTimeoutError with a message for
 * an operator; returns other errors unchanged. No message contains a password.
 */
export function asRecordsError(error: unknown): unknown {
  if (error instanceof ServiceError) return error
  const state = sqlState(error)
  if (state === LOCK_NOT_AVAILABLE) {
    return new LockTimeoutError('the store is in use by another process; try again when it has finished')
  }
  if (state === UNDEFINED_TABLE && error instanceof Error && error.message.includes('"$')) {
    return unusable('its tables are missing in the database; restore them, or restart')
  }
  // The statements of the store name fields: another server has renamed or removed one.
  if (state === UNDEFINED_COLUMN) return fieldsChanged()
  if (state !== undefined && error instanceof Error) {
    if (isStandby(error)) return away(`${MESSAGES['25006']} (${state})`)
    const message = MESSAGES[state] ?? MESSAGES[state.slice(0, 2)]
    if (message === undefined) return error
    const what = `${message} (${FOR_OPERATOR.test(state) ? error.message : state})`
    return PASSES.test(state) ? away(what) : unusable(what)
  }
  const file = fileOf(error)
  if (file !== undefined)
    return unusable(`reading or writing ${file} failed (${systemCode(error) ?? 'no code'})`)
  return isConnectionFault(error)
    ? away(`the connection to the database is lost (${reasonOf(error)})`)
    : error
}

/** Whether a transaction that writes was begun at a standby, which has no state of its own for that. */
function isStandby(error: Error): boolean {
  return sqlState(error) === '0A000' && 'file' in error && error.file === 'guc.c'
}

/** A failure to connect, always for the operator, who gets advice as well when the store is opened. */
export class ConnectError extends StoreAwayError {
  /** A code of the system or of TLS, or the message of node-postgres. */
  readonly reason: string

  constructor(reason: string) {
    super(`the store cannot be used: the database cannot be reached (${reason})`)
    this.reason = reason
  }
}

/** Turns a failure to connect into an error for an operator: {@link ConnectError} where no other is more specific. */
export function asConnectError(error: unknown): RecordsError | LockTimeoutError {
  const hasMessage = error instanceof ServiceError || sqlState(error) !== undefined
  const known = hasMessage ? asRecordsError(error) : null
  if (known instanceof RecordsError || known instanceof LockTimeoutError) return known
  if (error instanceof Error && NO_PASSWORD.test(error.message)) {
    return unusable(
      'the database requires a password; set it in PGPASSWORD, in ~/.pgpass or in the URL of the store',
    )
  }
  return new ConnectError(reasonOf(error))
}

function unusable(what: string): RecordsError {
  return new RecordsError(`the store cannot be used: ${what}`)
}

function away(what: string): StoreAwayError {
  return new StoreAwayError(`the store cannot be used: ${what}`)
}

/** The message of node-postgres when a server requires a password and none is given. */
const NO_PASSWORD = /password must be a (non-empty )?string/

/** SQLSTATEs that pass when the server has restarted, or others have disconnected. */
const PASSES = /^(08|53300|57P0[1-3])/

const LOCK_NOT_AVAILABLE = '55P03'
const UNDEFINED_TABLE = '42P01'
const UNDEFINED_COLUMN = '42703'

/** Messages of node-postgres for a broken connection, in errors without a code. */
const LOST =
  /^(Connection terminated|Connection ended|Client has encountered a connection error|Client was closed|timeout e|read E|write E)/

const ENDED = /^Connection terminated unexpectedly/

/** The code of an error of the operating system, such as ECONNREFUSED, or of TLS; `undefined` for any other error. */
function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return /^(E[A-Z0-9]+|ERR_(TLS|SSL|SOCKET)_.*|.*_CERT.*|CERT_.*)$/.test(error.code) ? error.code : undefined
}

/** The name of the file that an error of the file system is about; `undefined` for any other error. */
function fileOf(error: unknown): string | undefined {
  const known = error instanceof Error && 'path' in error && typeof error.path === 'string'
  return known ? basename(error.path as string) : undefined
}

/** Returns the code where there is one, else the message: errors must not reveal addresses of the database. */
function reasonOf(error: unknown): string {
  return systemCode(error) ?? (error instanceof Error ? error.message : String(error))
}

/** SQLSTATEs whose messages are for an operator, and reveal nothing of the server's internals. */
const FOR_OPERATOR = /^(08P01|28|3D|42501|42P07)/

/** Messages for SQLSTATEs and for classes of them, about the database and not about the program. */
const MESSAGES: Readonly<Record<string, string>> = {
  '08': 'the connection to the database is lost',
  '28': 'the database denies access; check user and password in the URL of the store',
  '3D': 'there is no such database; create it, or correct the URL of the store',
  '3F': "the sheet's schema is gone from the database",
  '25P03': 'the database server ended a transaction that was idle for too long',
  '25P04': 'the database server ended a transaction that took too long',
  '25006': 'the database is read-only; connect to the primary server',
  '40': 'the database rolled back a change that conflicted with another; try again',
  '42501': 'the user of the database lacks a permission',
  '42P07': 'the schema has tables of another program; use another schema for the sheet',
  '53': 'the database server lacks a resource',
  '53100': "the database server's disk is full",
  '53300': 'the database server accepts no more connections',
  '57P01': 'the database server ended the connection',
  '57P02': 'the database server crashed',
  '57P03': 'the database server is starting up or shutting down',
  '57P04': 'the database was dropped',
  '58': 'the database server had a system error',
  '72': 'a snapshot of the database was too old',
  XX: 'the database server had an internal error, or its data is damaged',
}
