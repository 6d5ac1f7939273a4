/**
 * Every error code, the type that it belongs to, and its meaning. A code is stable: programs, the command line and agents'
 * tools choose by it. docs/reference/errors.md has the same list.
 */
export const ERROR_CODES = {
  invalid_definition: {
    type: 'ContractError',
    meaning: '`contract.yaml`, `transport.yaml` or a derivation file is not valid',
  },
  contract_missing: { type: 'ContractError', meaning: 'the sheet has no `contract.yaml`' },
  contract_conflict: {
    type: 'ContractError',
    meaning: 'the stored records do not satisfy the changed contract',
  },
  derivation_cycle: { type: 'ContractError', meaning: 'derivations depend on each other in a cycle' },
  duplicate_target: { type: 'ContractError', meaning: 'two derivations have the same target' },
  definition_too_large: {
    type: 'ContractError',
    meaning: 'the definition files are too large, too many or too deeply nested',
  },
  invalid_sheet_file: {
    type: 'ContractError',
    meaning: 'a file of the sheet is a link or of the wrong kind, or cannot be read',
  },

  not_found: {
    type: 'SheetError',
    meaning: 'something that a run needed does not exist; in runs of earlier versions',
  },
  unknown_path: { type: 'SheetError', meaning: 'the service has no such path' },
  unknown_record: { type: 'SheetError', meaning: 'the record does not exist' },
  unknown_property: { type: 'SheetError', meaning: 'the contract has no field of this name' },
  unknown_run: { type: 'SheetError', meaning: 'the run does not exist' },
  unknown_proposal: { type: 'SheetError', meaning: 'the proposal does not exist' },
  unknown_view: { type: 'SheetError', meaning: 'the view does not exist' },
  unknown_chart: { type: 'SheetError', meaning: 'the chart does not exist' },
  unknown_derivation: { type: 'SheetError', meaning: 'the sheet has no derivation file of this name' },
  unknown_change: { type: 'SheetError', meaning: 'the history has no such change of the definition' },
  unknown_entry: { type: 'SheetError', meaning: 'the log has no such provenance entry' },
  unknown_checkpoint: {
    type: 'SheetError',
    meaning: 'the log has no checkpoint that covers the entry, or none at all',
  },
  unknown_format: { type: 'SheetError', meaning: 'records are not exported in this format' },
  unknown_file: { type: 'SheetError', meaning: 'the file does not exist or cannot be opened' },
  not_a_sheet: { type: 'SheetError', meaning: 'the directory or the database has no sheet' },
  path_exists: {
    type: 'SheetError',
    meaning: 'a file to be made exists already, and nothing is overwritten',
  },
  path_not_writable: { type: 'SheetError', meaning: 'a file or directory cannot be made' },

  store_unusable: { type: 'RecordsError', meaning: 'the store cannot be read or written' },
  store_away: {
    type: 'RecordsError',
    meaning: 'the store cannot be reached now; nothing was changed, and the same request may succeed later',
  },
  store_replaced: {
    type: 'RecordsError',
    meaning: 'a file of the store was removed, replaced or changed while it was open',
  },
  store_version: {
    type: 'RecordsError',
    meaning: 'the store was made by a later version of Colophon, or by another program',
  },
  database_unsuitable: {
    type: 'RecordsError',
    meaning: 'the version, encoding, roles or pooler of the database do not allow a sheet',
  },
  invalid_records_file: {
    type: 'RecordsError',
    meaning: 'a line of `records.jsonl` or `provenance.jsonl` is not valid',
  },
  unknown_outcome: {
    type: 'RecordsError',
    meaning: 'the connection was lost while a change was stored; read it before you try again',
  },

  invalid_query: { type: 'QueryError', meaning: 'the statement or filter is not valid' },
  not_select: { type: 'QueryError', meaning: 'the statement is no single `SELECT`' },
  unknown_table: { type: 'QueryError', meaning: 'the statement reads something other than `records`' },
  forbidden_function: { type: 'QueryError', meaning: 'the statement uses a name that is not allowed' },
  wrong_parameters: {
    type: 'QueryError',
    meaning: 'placeholders and values do not match, or a value cannot be passed',
  },
  duplicate_column: { type: 'QueryError', meaning: 'two columns of the result have the same name' },
  query_too_long: { type: 'QueryError', meaning: 'the statement or filter is too long' },
  query_timeout: { type: 'QueryError', meaning: 'the query took too long and was stopped' },
  query_memory: { type: 'QueryError', meaning: 'the query needed too much memory and was stopped' },
  result_too_large: { type: 'QueryError', meaning: 'the result is too large; select less' },
  too_many_queries: { type: 'QueryError', meaning: 'too many queries run at once; try again later' },

  invalid_operation: { type: 'OperationError', meaning: 'the operation is not possible as requested' },
  unknown_target: { type: 'OperationError', meaning: 'no derivation has this target' },
  unknown_derivation_file: {
    type: 'OperationError',
    meaning: 'the derivation that the request selects does not exist',
  },
  publish_failed: { type: 'OperationError', meaning: 'the command that publishes checkpoints failed' },
  nothing_to_do: { type: 'OperationError', meaning: 'the request would change nothing' },
  history_not_kept: { type: 'OperationError', meaning: 'the log does not reach back to this time' },
  unknown_price: { type: 'OperationError', meaning: '`max_cost` cannot be kept, since a price is unknown' },
  unset_variable: {
    type: 'OperationError',
    meaning: 'a derivation needs an environment variable that is not set or not usable',
  },
  definition_refused: {
    type: 'OperationError',
    meaning: 'the definition would not be valid after the change, or the stored records do not allow it',
  },
  definition_changed: {
    type: 'OperationError',
    meaning: 'the definition changed during the operation; try again',
  },
  run_not_finished: { type: 'OperationError', meaning: 'the run has not ended yet' },
  run_not_running: { type: 'OperationError', meaning: 'the run has ended already' },
  run_cancelled: { type: 'OperationError', meaning: 'the run was cancelled' },
  run_interrupted: { type: 'OperationError', meaning: 'the run ended before all its cells were computed' },
  run_stopped: { type: 'OperationError', meaning: 'the run was stopped because its calls fail' },
  call_cancelled: { type: 'OperationError', meaning: 'the caller ended the operation' },
  budget_spent: { type: 'OperationError', meaning: 'the budget of the agent allows none of the calls' },
  output_failed: {
    type: 'OperationError',
    meaning: 'a file cannot be written, or a result is too long to return',
  },
  version_mismatch: {
    type: 'OperationError',
    meaning: 'the record or the definition file does not have the version that the request requires',
  },
  record_exists: { type: 'OperationError', meaning: 'a record to be restored exists again' },
  value_changed: {
    type: 'OperationError',
    meaning: 'a cell has another value than the one that was reviewed',
  },
  values_in_use: {
    type: 'OperationError',
    meaning: 'values cannot be erased during a run, or while a proposal for their record waits',
  },
  proposal_decided: {
    type: 'OperationError',
    meaning: 'the proposal, or a part of it, is accepted or rejected already',
  },
  proposal_outdated: {
    type: 'OperationError',
    meaning: 'the records have changed since the proposal was made',
  },
  change_outdated: {
    type: 'OperationError',
    meaning: 'a file of the change was changed again since',
  },
  too_many_proposals: { type: 'OperationError', meaning: 'too many proposals wait for a decision' },
  view_exists: { type: 'OperationError', meaning: 'another view has this name' },
  too_many_views: { type: 'OperationError', meaning: 'the sheet has as many views as it can have' },
  chart_exists: { type: 'OperationError', meaning: 'another chart has this name' },
  too_many_charts: { type: 'OperationError', meaning: 'the sheet has as many charts as it can have' },
  method_not_allowed: { type: 'OperationError', meaning: 'the path does not have this method' },
  not_ready: { type: 'OperationError', meaning: 'the service is stopping, and reports itself as not ready' },

  not_permitted: { type: 'PermissionDeniedError', meaning: 'the actor may not do this' },
  write_not_permitted: { type: 'PermissionDeniedError', meaning: 'the actor may not write a field' },
  definition_fixed: {
    type: 'PermissionDeniedError',
    meaning: 'the service was started without the permission to change the definition',
  },
  delete_not_permitted: {
    type: 'PermissionDeniedError',
    meaning: 'the actor may not delete or restore records',
  },
  own_proposal: { type: 'PermissionDeniedError', meaning: 'nobody may accept their own proposal' },
  invalid_csrf_token: { type: 'PermissionDeniedError', meaning: 'the CSRF token is missing or wrong' },
  host_not_served: { type: 'PermissionDeniedError', meaning: 'the service does not serve this host' },
  origin_refused: {
    type: 'PermissionDeniedError',
    meaning: 'the request comes from a page of another origin',
  },

  run_in_progress: { type: 'LockTimeoutError', meaning: 'another run did not end in time' },
  store_in_use: { type: 'LockTimeoutError', meaning: 'another process uses the store' },

  invalid_request: { type: 'ValidationError', meaning: 'the request does not have the expected shape' },
  invalid_json: { type: 'ValidationError', meaning: 'the body is not JSON in UTF-8, or nests too deeply' },
  lossy_number: { type: 'ValidationError', meaning: 'a number would lose digits' },
  unknown_parameter: {
    type: 'ValidationError',
    meaning: 'a query parameter, body member or tool argument is not known',
  },
  repeated_parameter: {
    type: 'ValidationError',
    meaning: 'a query parameter or header is given more than once',
  },
  conflicting_parameters: { type: 'ValidationError', meaning: 'two parts of the request exclude each other' },
  out_of_range: { type: 'ValidationError', meaning: 'a number is outside its range' },
  too_many_items: { type: 'ValidationError', meaning: 'a list is too long; send it in parts' },
  actor_required: { type: 'ValidationError', meaning: 'neither the request nor the server names an actor' },
  invalid_actor: { type: 'ValidationError', meaning: 'the name of the actor is not valid' },
  unknown_field: { type: 'ValidationError', meaning: 'the contract has no such field' },
  invalid_records: { type: 'ValidationError', meaning: 'records do not satisfy the contract' },
  invalid_condition: { type: 'ValidationError', meaning: '`where` or `search` is not valid' },
  invalid_sort: { type: 'ValidationError', meaning: '`sort` is not valid' },
  invalid_as_of: { type: 'ValidationError', meaning: '`as_of` is no time or entry, or is in the future' },
  invalid_cursor: {
    type: 'ValidationError',
    meaning: 'the cursor is not from this list, filter, sort or time',
  },
  invalid_if_match: { type: 'ValidationError', meaning: 'the header `If-Match` is not valid' },
  proposal_too_large: { type: 'ValidationError', meaning: 'the proposal is too large; propose in parts' },
  unreadable_file: {
    type: 'ValidationError',
    meaning: 'a file of records is damaged, too large or of another format',
  },
  unknown_encoding: {
    type: 'ValidationError',
    meaning: 'the encoding of a file is not known or not the one named',
  },
  unknown_column: {
    type: 'ValidationError',
    meaning: 'a file has no such column, or one that fits no field',
  },
  key_required: { type: 'ValidationError', meaning: 'a file has no usable column for the ids of records' },
  invalid_archive: { type: 'ValidationError', meaning: 'a file is no archive of a sheet, or is damaged' },
  invalid_sign_key: { type: 'ValidationError', meaning: 'the file has no key that signs checkpoints' },
  invalid_stub: { type: 'ValidationError', meaning: 'the stub file is not valid' },
  not_exportable: { type: 'ValidationError', meaning: 'the records do not fit into the format' },
  malformed_request: { type: 'ValidationError', meaning: 'the message is not valid HTTP' },
  request_timeout: { type: 'ValidationError', meaning: 'the request took too long to arrive' },
  body_too_large: { type: 'ValidationError', meaning: 'the body is too large' },
  url_too_long: { type: 'ValidationError', meaning: 'the URL is too long' },
  unsupported_media_type: {
    type: 'ValidationError',
    meaning: 'the body is not JSON in UTF-8, or is compressed',
  },
  headers_too_large: { type: 'ValidationError', meaning: 'the request line and headers are too large' },

  internal_error: { type: 'ServiceError', meaning: 'a bug in the service; see the log' },
  service_stopping: { type: 'ServiceError', meaning: 'the service is being stopped; try again later' },
} as const satisfies Readonly<Record<string, { readonly type: string; readonly meaning: string }>>

export type ErrorCode = keyof typeof ERROR_CODES

/** An error type of the interface (`docs/reference/errors.md`); `ServiceError` is a bug in the service (D36). */
export type ErrorType = (typeof ERROR_CODES)[ErrorCode]['type']

/** All error types, in the order of the specification. */
export const ERROR_TYPES: readonly ErrorType[] = [
  ...new Set(Object.values(ERROR_CODES).map(({ type }) => type)),
]

/** The codes of an error type. */
export type CodeOf<T extends ErrorType> = {
  [C in ErrorCode]: (typeof ERROR_CODES)[C]['type'] extends T ? C : never
}[ErrorCode]
