import type { ErrorType } from '../../errors/codes.ts'

/** The meaning of each type of error, for the page and the reference. */
export const ERROR_MEANINGS: Readonly<Record<ErrorType, string>> = {
  ContractError:
    '`contract.yaml` or a derivation file is invalid, or a change to them would make records invalid',
  SheetError: 'there is no such path, record or other item',
  RecordsError: 'the records cannot be read, written, or imported',
  QueryError: 'a statement or filter is refused, invalid, or exceeded its limits',
  OperationError: 'the operation is not possible, such as computing a target without a derivation',
  PermissionDeniedError: 'the actor may not write this, or the request has a wrong origin or no token',
  LockTimeoutError: 'a lock was not acquired in time',
  ValidationError: 'the request has the wrong shape, or its records violate the contract',
  ServiceError:
    'a bug in the service: the message is `internal error`, and the log has more; or, with `Retry-After`, the service is stopping',
}
