import { ERROR_CODES, type CodeOf, type ErrorCode, type ErrorType } from './codes.ts'
import type { ListedViolations } from './violations.ts'

/** An operation that helps after an error. Each skin names it by its own route, command or tool. */
export type Hint =
  | { readonly action: 'list_runs' }
  | { readonly action: 'get_run' | 'cancel_run'; readonly run: string }
  | { readonly action: 'list_entries' }
  | { readonly action: 'remove_with_derivation' }

/** An error in a file of the sheet. */
export interface FileError {
  /** The path relative to the sheet. */
  readonly file: string
  /** From 1; null when it is no single line. */
  readonly line: number | null
  readonly message: string
}

/**
 * Returns what a constructor takes for an error in a file: the message `<file>:<line>: <message>`, or `<file> <message>` without
 * a line, the code, and the details.
 */
export function fileError<C extends ErrorCode>(error: FileError, code: C): [string, C, ErrorDetails] {
  const { file, line, message } = error
  return [line === null ? `${file} ${message}` : `${file}:${line}: ${message}`, code, { inFile: error }]
}

/** Parts of an error that programs read; absent or null where the error has none. */
export interface ErrorDetails {
  readonly hint?: Hint | null
  readonly violations?: ListedViolations | null
  readonly inFile?: FileError | null
}

/**
 * An error that stops an operation and is returned to its caller. `message` says what is wrong, the value seen and what to
 * do; it never contains paths of the machine or internals of the program.
 *
 * Only the subclasses below are thrown. A plain `Error` is a bug: it is logged, and callers get `internal_error`.
 */
export abstract class ServiceError extends Error {
  abstract readonly type: ErrorType
  readonly code: ErrorCode
  readonly hint: Hint | null
  readonly violations: ListedViolations | null
  readonly inFile: FileError | null

  constructor(message: string, code: ErrorCode, details: ErrorDetails = {}) {
    super(message)
    this.code = code
    this.hint = details.hint ?? null
    this.violations = details.violations ?? null
    this.inFile = details.inFile ?? null
  }
}

/** The message of an error, with the operation that helps as a skin words it. */
export function messageWithHint({ message, hint }: ServiceError, wordsOf: (hint: Hint) => string): string {
  return hint === null ? message : `${message}; ${wordsOf(hint)}`
}

/** The contract or a derivation file is broken, or a change to them would break stored records. */
export class ContractError extends ServiceError {
  readonly type = 'ContractError'

  constructor(
    message: string,
    code: CodeOf<'ContractError'> = 'invalid_definition',
    details: ErrorDetails = {},
  ) {
    super(message, code, details)
  }
}

/** A path, record or other item of the sheet does not exist. */
export class SheetError extends ServiceError {
  readonly type = 'SheetError'

  constructor(message: string, code: CodeOf<'SheetError'> = 'not_found', details: ErrorDetails = {}) {
    super(message, code, details)
  }
}

/** The record store cannot be read, written, or started from `records.jsonl`. */
export class RecordsError extends ServiceError {
  readonly type = 'RecordsError'

  constructor(message: string, code: CodeOf<'RecordsError'> = 'store_unusable', details: ErrorDetails = {}) {
    super(message, code, details)
  }
}

/** The store cannot be reached now: nothing was changed, and the same request may succeed later. */
export class StoreAwayError extends RecordsError {
  constructor(message: string) {
    super(message, 'store_away')
  }
}

/** A statement or filter is refused, wrong, or exceeded its limits. */
export class QueryError extends ServiceError {
  readonly type = 'QueryError'
  declare readonly code: CodeOf<'QueryError'>

  constructor(message: string, code: CodeOf<'QueryError'> = 'invalid_query') {
    super(message, code)
  }
}

/** The operation is not possible as requested, such as a target that no derivation has. */
export class OperationError extends ServiceError {
  readonly type = 'OperationError'

  constructor(
    message: string,
    code: CodeOf<'OperationError'> = 'invalid_operation',
    details: ErrorDetails = {},
  ) {
    super(message, code, details)
  }
}

/** A condition on the version of a record does not hold, so that nothing was changed (D36: 412). */
export class PreconditionFailedError extends OperationError {
  constructor(message: string) {
    super(message, 'version_mismatch')
  }
}

/** A run was stopped because its calls fail: its results are kept, and the other cells are unchanged. */
export class RunStoppedError extends OperationError {
  constructor(message: string) {
    super(message, 'run_stopped')
  }
}

/** Codes of {@link ConflictError}. */
const CONFLICTS = [
  'definition_changed',
  'record_exists',
  'value_changed',
  'values_in_use',
  'proposal_decided',
  'proposal_outdated',
  'too_many_proposals',
  'change_outdated',
  'view_exists',
  'too_many_views',
  'chart_exists',
  'too_many_charts',
] as const satisfies readonly ErrorCode[]

/** The request conflicts with a change made meanwhile, so that nothing was changed (409). */
export class ConflictError extends OperationError {
  declare readonly code: (typeof CONFLICTS)[number]

  constructor(message: string, code: (typeof CONFLICTS)[number], details: ErrorDetails = {}) {
    super(message, code, details)
  }
}

/** The actor, or the page that sent the request, may not do this. */
export class PermissionDeniedError extends ServiceError {
  readonly type = 'PermissionDeniedError'

  constructor(
    message: string,
    code: CodeOf<'PermissionDeniedError'> = 'not_permitted',
    details: ErrorDetails = {},
  ) {
    super(message, code, details)
  }
}

/** A lock could not be acquired in time. */
export class LockTimeoutError extends ServiceError {
  readonly type = 'LockTimeoutError'

  constructor(message: string, code: CodeOf<'LockTimeoutError'> = 'store_in_use') {
    super(message, code)
  }
}

/** The input has the wrong shape or breaks the contract. */
export class ValidationError extends ServiceError {
  readonly type = 'ValidationError'

  constructor(
    message: string,
    code: CodeOf<'ValidationError'> = 'invalid_request',
    details: ErrorDetails = {},
  ) {
    super(message, code, details)
  }
}

/**
 * The service is being stopped: the request may succeed later, at another server or after a restart. What the operation has
 * stored until then is kept.
 */
export class StoppingError extends ServiceError {
  readonly type = 'ServiceError'

  constructor(message = 'the service is stopping') {
    super(message, 'service_stopping')
  }
}

/** A service error as plain data, to be stored or sent to another thread or process. */
export interface PlainServiceError extends ErrorDetails {
  readonly type: ErrorType
  readonly message: string
  /** Absent in what an earlier version stored. */
  readonly code?: ErrorCode | null
}

/** The plain form of a service error; `undefined` for anything else, which is a bug. */
export function toPlainError(error: unknown): PlainServiceError | undefined {
  if (!(error instanceof ServiceError)) return undefined
  const { type, code, message, hint, violations, inFile } = error
  return { type, code, message, hint, violations, inFile }
}

/** The inverse of {@link toPlainError}. Without a code, or with that of another version, it gets the general code of its type. */
export function fromPlainError({ type, message, code, ...details }: PlainServiceError): ServiceError {
  const known = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? code : undefined
  const Class = (known && CLASS_OF_CODE.get(known)) ?? CLASSES[type]
  return new Class(message, known as never, details)
}

const CLASSES = {
  ContractError,
  SheetError,
  RecordsError,
  QueryError,
  OperationError,
  PermissionDeniedError,
  LockTimeoutError,
  ValidationError,
  ServiceError: StoppingError,
} as const

type Constructor = new (message: string, code: never, details?: ErrorDetails) => ServiceError

/** Codes whose errors have a class of their own. */
const CLASS_OF_CODE: ReadonlyMap<ErrorCode, Constructor> = new Map<ErrorCode, Constructor>([
  ['store_away', StoreAwayError],
  ['version_mismatch', PreconditionFailedError],
  ['run_stopped', RunStoppedError],
  ...CONFLICTS.map((code) => [code, ConflictError] as const),
])
