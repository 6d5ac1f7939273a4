/**
 * The engine, for programs that work on a sheet without a server: `openSheet(path)`, and what can be done with the sheet.
 * Pages of records and results of queries are JSON text in UTF-8, as the store makes them. Every operation throws a
 * ServiceError for what its caller should know. For programs that talk to a server there is `colophon/client`.
 */

export { openSheet, type SheetOptions } from './sheet/open-sheet.ts'
export type { Logger, Sheet } from './sheet/sheet.ts'

export { deleteRecords, type DeleteRequest } from './sheet/writes/delete-records.ts'
export { getRecord, getRecordAsOf } from './sheet/queries/get-record.ts'
export { listRecords, type ListRecordsQuery, type RecordList } from './sheet/queries/list-records.ts'
export { runQuery } from './sheet/queries/run-query.ts'
export { summarizeRecords, type SummarizeQuery } from './sheet/queries/summarize-records.ts'
export { upsertRecords, type UpsertOptions } from './sheet/writes/upsert-records.ts'

export { cancelRun } from './sheet/runs/cancel-run.ts'
export {
  materialize,
  startMaterialize,
  type MaterializeRequest,
  type MaterializeResult,
  type StartedRun,
} from './sheet/runs/materialize.ts'
export { planMaterialize } from './sheet/runs/plan-materialize.ts'
export { getRun, listRunFailures, listRuns } from './sheet/runs/read-runs.ts'
export { restoreRecords, type RestoreRecordsRequest } from './sheet/writes/restore-records.ts'
export { revertCell, startRevert, type RevertReport, type StartedRevert } from './sheet/runs/revert.ts'
export type { RunWatch } from './sheet/run-feed.ts'
export { watchRun } from './sheet/runs/watch/watch-run.ts'

export { explainCell, type CellExplanation } from './sheet/cells/explain-cell.ts'
export { readCellStates, type CellStates } from './sheet/cells/read-cell-states.ts'
export { readContract } from './sheet/schema/read-contract.ts'
export { readDerivations, type DerivationReport } from './sheet/schema/read-derivations.ts'
export { readPermissions, type Permissions } from './sheet/schema/read-permissions.ts'
export { readProvenance } from './sheet/cells/read-provenance.ts'
export { readStatus, type TargetStatusReport } from './sheet/cells/read-status.ts'

export { NetworkTransport, parseStub, type Transport } from './sheet/transports.ts'
export type {
  Computed,
  DerivationKind,
  InputValues,
  ParseContext,
  ParsedSpec,
  Plan,
  Planned,
  Resource,
  RunContext,
  OtherSheet,
  Source,
} from './derivation/definition/derivation-kind.ts'
export type { HostPolicies, HostPolicy } from './derivation/definition/host-policies.ts'
export type { ErrorCode } from './errors/codes.ts'
export type { Failure } from './errors/failure.ts'
export { err, ok, type Result } from './errors/result.ts'
export {
  ContractError,
  LockTimeoutError,
  OperationError,
  PermissionDeniedError,
  PreconditionFailedError,
  QueryError,
  RecordsError,
  ServiceError,
  SheetError,
  ValidationError,
  type Hint,
} from './errors/service-error.ts'
