/** The error types of the interface (specification, "Errors"), plus `ServiceError` for a fault of the program (D36). */
export const ERROR_TYPES = [
  'ContractError',
  'SheetError',
  'RecordsError',
  'QueryError',
  'OperationError',
  'PermissionDeniedError',
  'LockTimeoutError',
  'ValidationError',
  'ServiceError',
] as const

export type ErrorType = (typeof ERROR_TYPES)[number]

/**
 * Something that stops an operation and that its caller is told about. `message` says what is wrong, the value
 * seen and what to do; it never names paths of the machine or the program's insides.
 *
 * Only the subclasses below are thrown. A plain `Error` is a bug: it is logged, and callers learn nothing of it.
 */
export abstract class ServiceError extends Error {
  abstract readonly type: ErrorType
}

/** The contract or a derivation file is broken, or a change to them would break stored records. */
export class ContractError extends ServiceError {
  readonly type = 'ContractError'
}

/** A path, record or other item of the sheet does not exist. */
export class SheetError extends ServiceError {
  readonly type = 'SheetError'
}

/** The record store cannot be read, written, or started from `records.jsonl`. */
export class RecordsError extends ServiceError {
  readonly type = 'RecordsError'
}

/** The record store is away just now: nothing was changed, and the same request may go well a little later. */
export class StoreAwayError extends RecordsError {}

/** A statement or filter is refused, wrong, or went past its limits. */
export class QueryError extends ServiceError {
  readonly type = 'QueryError'
}

/** The operation makes no sense as asked for, such as a target that no derivation has. */
export class OperationError extends ServiceError {
  readonly type = 'OperationError'
}

/** A condition on the version of a record does not hold, so that nothing was changed (D36: 412). */
export class PreconditionFailedError extends OperationError {}

/** A run was ended early since its calls fail: what it computed stays, and the rest is as it was (400). */
export class RunStoppedError extends OperationError {}

/** What it is about has changed meanwhile, or is in another state by now, so that nothing was changed (409). */
export class ConflictError extends OperationError {}

/** The actor, or the page the request comes from, may not do this. */
export class PermissionDeniedError extends ServiceError {
  readonly type = 'PermissionDeniedError'
}

/** A lock could not be had in time. */
export class LockTimeoutError extends ServiceError {
  readonly type = 'LockTimeoutError'
}

/** The input has the wrong shape or breaks the contract. */
export class ValidationError extends ServiceError {
  readonly type = 'ValidationError'
}

/**
 * The service is being stopped: nothing is wrong with the request, and it may succeed a little later, at another server or when
 * the service is started again. What the operation has stored until then stays.
 */
export class StoppingError extends ServiceError {
  readonly type = 'ServiceError'

  constructor(message = 'the service is stopping') {
    super(message)
  }
}

const CLASSES = {
  StoppingError,
  ContractError,
  SheetError,
  RecordsError,
  StoreAwayError,
  QueryError,
  OperationError,
  PreconditionFailedError,
  ConflictError,
  PermissionDeniedError,
  LockTimeoutError,
  ValidationError,
} as const

/** A service error as plain data, to cross from one thread or process to another. */
export interface PlainServiceError {
  /** The name of its class, which of most is its type. */
  readonly type: keyof typeof CLASSES
  readonly message: string
}

/** The plain form of an error that is a service error; `undefined` for anything else, which is then a bug. */
export function toPlainError(error: unknown): PlainServiceError | undefined {
  if (error instanceof StoppingError) return { type: 'StoppingError', message: error.message }
  if (!(error instanceof ServiceError) || error.type === 'ServiceError') return undefined
  return { type: classNameOf(error, error.type), message: error.message }
}

/** A type has several classes where the status of its answer is not always the same. */
function classNameOf(error: ServiceError, type: Exclude<ErrorType, 'ServiceError'>): keyof typeof CLASSES {
  if (error instanceof PreconditionFailedError) return 'PreconditionFailedError'
  if (error instanceof StoreAwayError) return 'StoreAwayError'
  return error instanceof ConflictError ? 'ConflictError' : type
}

/** The inverse of {@link toPlainError}. */
export function fromPlainError(plain: PlainServiceError): ServiceError {
  return new CLASSES[plain.type](plain.message)
}
