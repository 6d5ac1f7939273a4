import type { ErrorType } from '../../errors/codes.ts'

/** The meaning of each type of error, for the page and the reference. */
export const ERROR_MEANINGS: Readonly<Record<ErrorType, string>> = {
  ContractError: '`contract.yaml` or a derivation file is broken, or a change to them would break records',
  SheetError: 'there is no such path, record or other item',
  RecordsError: 'the records cannot be read, written, or imported',
  QueryError: 'a statement or filter is refused, wrong, or went past its limits',
  OperationError: 'what was asked for makes no sense, such as a target that no derivation computes',
  PermissionDeniedError:
    'the actor may not write this, or the request comes from the wrong page or without a token',
  LockTimeoutError: 'a lock could not be had in time',
  ValidationError: 'the request has the wrong shape, or its records break the contract',
  ServiceError:
    'a fault of the program: the message is `internal error`, and the log has more; or, with `Retry-After`, the service is being stopped',
}
