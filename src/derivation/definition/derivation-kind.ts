import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { YamlEdit, YamlPath } from '../../contract/yaml/edit/yaml-edit.ts'
import type { Failure } from '../../errors/failure.ts'
import type { Result } from '../../errors/result.ts'
import type { KeptResponse, ReceivedResponse } from '../../store/stored-responses.ts'
import type { RecordedUsage } from '../../store/cell-work.ts'
import type { FormulaInFile, FormulaStore } from '../../store/formula.ts'
import type { QueryPass, RecordsQueries } from '../../store/records-query.ts'
import type { SharedHosts } from '../../store/shared-hosts.ts'
import type { CallOrigin, RecordedCall, SentRequest } from '../recording/recorded-call.ts'
import { NotWanted, type Limiter } from '../limiter/limiter.ts'
import type { HostPolicies } from './host-policies.ts'

/** The values of a derivation's inputs in one record; a field without a value is null. */
export type InputValues = { readonly [field: string]: JsonValue }

/** The plan of one computation, made from the inputs alone. */
export interface Plan {
  /** The name of this computation in failures and provenance, for http `<METHOD> <URL>`. */
  readonly request: string
  /**
   * The members that the input hash covers besides the derivation file and the inputs (H4, D24), for http `url` and `body`. Never a secret,
   * and never a name in {@link HASH_MEMBERS}.
   */
  readonly hashed: JsonObject
  /** The evidence known before the computation, for http `method` and `url`; it must not contain a common member (evidence.ts). */
  readonly evidence: JsonObject
  /** The input hashes of a kind whose computations consist of steps ({@link DerivationKind.stepsOf}); absent for any other. */
  readonly hashes?: StepHashes
}

/** The input hashes of a computation that consists of steps: which of them a value gets depends on the steps that were needed. */
export interface StepHashes {
  /** The hash of the computation with all of its steps. */
  readonly whole: string
  /** The hashes with one of which a cell is fresh, `whole` among them. */
  readonly valid: readonly string[]
}

/** A step of a derivation: a derivation that is a part of it. */
export interface DerivationStep {
  /** Its place in the file, from 1. */
  readonly number: number
  readonly derivation: Derivation
  /** Identifies what beside the contract may refuse its values; null for nothing. */
  readonly condition: string | null
}

/** A step of a computation. */
export interface StepPlan extends DerivationStep {
  readonly plan: Plan
  /** Its input hash. */
  readonly hash: string
}

/** The result of a step that was not known before. */
export interface StepResult {
  readonly step: DerivationStep
  readonly isAccepted: boolean
  /** Dollars; null if unknown. */
  readonly cost: number | null
}

/** The outcome of a step; a call of another record with the same input hash costs 0. */
export type StepOutcome =
  | {
      readonly outcome: 'computed'
      /** Values have the types of the contract, but are not validated. */
      readonly values: Computed['values']
      /** The evidence known after the computation. */
      readonly evidence: JsonObject
      /** The time when the response was received that was used instead of a call; null for none. */
      readonly receivedAt: string | null
      /** Dollars; null if unknown. */
      readonly cost: number | null
      /** Whether a call was made for it. */
      readonly tookCall: boolean
      /** Whether it was in the cache, or comes from the call of another record. */
      readonly isCached: boolean
    }
  /** This machine does not carry it out, for this reason. */
  | { readonly outcome: 'refused'; readonly detail: string }
  /** It may cost `price`, which is more than allowed. */
  | { readonly outcome: 'too_dear'; readonly price: number }

/** The expected tokens of a computation, not rounded, and its expected cost in dollars; null for an unknown price. */
export interface TokenEstimate {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number | null
  /** The recorded usage whose mean this is; null for an estimate from the length of the prompt. */
  readonly recorded: RecordedUsage | null
}

/** The outcome of planning a cell. */
export type Planned<P extends Plan = Plan> =
  | { readonly outcome: 'run'; readonly plan: P }
  /** A required input is null: no request is sent, the cell is skipped (D22). */
  | { readonly outcome: 'blocked'; readonly field: string }
  /** Nothing is computed for these inputs: the cell is skipped and keeps its state. */
  | { readonly outcome: 'skipped' }
  | { readonly outcome: 'failed'; readonly failure: Failure }

/** The result of a computation: for each target its value or its failure, and the evidence for provenance. */
export interface Computed {
  readonly values: { readonly [target: string]: Result<JsonValue, Failure> }
  /** The evidence known after the computation, for http `status` and `duration_ms`; it must not contain a common member (evidence.ts). */
  readonly evidence: JsonObject
  /**
   * Dollars that the computation cost, which replace the estimate; null if unknown. Absent if the estimate is the price. A computation that
   * fails at a cost returns a failure for each target.
   */
  readonly cost?: number | null
  /**
   * The amounts that the computation used, such as tokens, by name: the store adds them up for {@link DerivationKind.expected}.
   * Absent if they are unknown, and for kinds without such amounts.
   */
  readonly usage?: RecordedUsage['amounts'] | undefined
  /** The input hash of the values, for a kind whose plans have several. */
  readonly inputHash?: string
  /** Whether a computation of steps took no call; for any other kind the run knows. */
  readonly isCached?: boolean
  /** For a computation of steps, the time when the response of the accepted one was received, if no call was made for it. */
  readonly receivedAt?: string | null
  /** The response to keep; absent if there is none or it must not be kept. */
  readonly response?: ReceivedResponse | undefined
}

/** The context of a computation. */
export interface RunContext {
  /** Aborts calls under way when the run is stopped. */
  readonly signal: AbortSignal
  readonly policies: HostPolicies
  /** Limits the calls of all kinds to a resource together. */
  readonly limiter: Limiter
  /** The limits that several processes share; absent if only this process uses the resource. */
  readonly hosts?: SharedHosts | undefined
  /** Computes formulas in the SQL dialect of the sheet; absent in a context without a store. */
  readonly formulas?: FormulaStore | undefined
  /**
   * Carries out a step, with the cache, the bounds and the limits that its kind has in a derivation of its own, unless it may cost more
   * than `most` dollars (null: no bound). Resolves when its result is stored. Rejects with {@link NotWanted}, or {@link NoRoom}, if it is
   * not carried out for a reason that has nothing to do with the step. Absent in a context without a run.
   */
  step?(step: StepPlan, most: number | null): Promise<StepOutcome>
  /** Must be called with each result of a step that was not known before, as soon as it is validated: it counts whatever becomes of the rest. */
  onStepResult?(result: StepResult): void
  /** Must be called once when the call begins; from then on it counts. For a kind that does not call it, the call begins with `onSent`. */
  onBegun?(): void
  /** Must be called once when the call is sent; from then on it counts and may cost. */
  onSent(): void
  /** Must be called before `run` rejects if what was sent costs nothing; otherwise such a call counts with its price. */
  onFree?(): void
  /**
   * Whether the result of the call is still needed; called before every try, and only after `run` has returned its promise. If not, the kind rejects with {@link NotWanted} and does not
   * call.
   */
  wanted(): boolean | Promise<boolean>
  /** The origin of the calls, which is recorded with them; absent outside of runs. */
  readonly origin?: CallOrigin
  /** Must be called with each request that was sent and its result, without secrets; absent where nothing is recorded. */
  onRecorded?(call: RecordedCall): void
  /** Settles when the result of the call is stored. */
  readonly stored: Promise<void>
  /** Should be called when other calls wait until that settles: the result is then stored without waiting for others. */
  onKept?(): void
}

/** The context in which a kind reads other records than the one at hand. */
export interface RecordsContext {
  readonly queries: RecordsQueries
  readonly pass: QueryPass
  readonly signal: AbortSignal
}

/** A plan of a batch. All of them have begun, and the result of each is needed. */
export interface BatchItem<P extends Plan = Plan> {
  readonly plan: P
  /** See {@link RunContext}. */
  onSent(): void
}

/** The context of a batch. */
export type BatchContext = Pick<RunContext, 'signal' | 'policies' | 'limiter' | 'hosts' | 'formulas'>

/** The error with which a call rejects that would exceed the bounds of the run. */
export class NoRoom extends NotWanted {}

/**
 * Something outside the record that computations of a derivation touch. `--allow-net` and `--offline` decide about hosts; the start message
 * and the report of a derivation list all resources.
 */
export interface Resource {
  readonly type: 'host' | 'file' | 'sheet' | 'process'
  /**
   * For a host `host:port` as in a parsed URL; for a file or another sheet its path relative to the sheet's directory; for a process its
   * program.
   */
  readonly name: string
}

/** The context in which a kind reads a derivation file. */
export interface ParseContext {
  readonly contract: Contract
  /** The file as messages name it, such as `derivations/currency.yaml`. */
  readonly file: string
  /** The fields that `inputs` lists, in its order. */
  readonly inputs: readonly string[]
  /**
   * Returns a file of the sheet as it is now, which the kind then lists in {@link ParsedSpec.sources}: the file is parsed again whenever it
   * has changed. Absent if the sheet has no other files.
   */
  readonly source?: ((path: string) => Source) | undefined
  /**
   * Parses a part of the file, at `path`, as a derivation of the same targets and of any other kind. Its hash covers its own keys, and not
   * the rest of the file. Throws ContractError.
   */
  step(path: readonly (string | number)[], keys: JsonObject): Derivation
  /** Throws a ContractError that names the file, the line of `path` (keys from the document's root) and `message`. */
  fail(path: readonly (string | number)[], message: string): never
}

/** A field with another name, in a derivation file that is valid with the name before. */
export interface RenameContext {
  readonly from: string
  readonly to: string
  /** The contract with the name before. */
  readonly contract: Contract
  /** The inputs that the file lists, by the names before. */
  readonly listed: readonly string[]
  /** Takes the path of a file of the sheet whose text is a template too: its placeholders are edited. */
  templateFile(path: string): void
  /** Returns the edits of a part of the file, at `path`, that is a derivation of another kind. */
  step(path: YamlPath, keys: JsonObject): readonly YamlEdit[]
  /** Throws a ContractError that names the file, the line of `path` (keys from the document's root) and `message`. */
  fail(path: YamlPath, message: string): never
}

/** Something beside the record on whose content results depend: a file of the sheet, such as a table of reference data, or another sheet. */
export interface Source {
  /** Its path from the sheet's directory, with `/` between names. */
  readonly path: string
  /** The content of a file; null if it does not exist or cannot be read, and for another sheet. */
  readonly bytes: Uint8Array | null
  /** The records of another sheet; absent for a file, and for a sheet that cannot be read. */
  readonly sheet?: OtherSheet
  /** The reason for missing content, as text of a failure; empty for none. */
  readonly problem: string
  /** Identifies content and problem. */
  readonly version: string
}

/** The records of another sheet, which are read when a kind needs them. */
export interface OtherSheet {
  /** Its directory, with links resolved. */
  readonly directory: string
  /** The file with its records: that of the store, or of a sheet without a store. */
  readonly file: 'sheet.db' | 'records.jsonl'
  /** Makes the next operation read the source again, after a failure that may be temporary. */
  retry(): void
}

/** A derivation file as parsed by its kind. */
export interface ParsedSpec<Spec> {
  readonly spec: Spec
  /** Fields that placeholders name: they count as inputs, listed or not (D20). */
  readonly usedFields: readonly string[]
  /**
   * The used fields that must have a value for a request (D22). `plan` is blocked exactly if one of them is null; the store counts such
   * cells as blocked (D32).
   */
  readonly requiredFields: readonly string[]
  /** The resources that computations touch; empty for kinds that only read the record. */
  readonly resources: readonly Resource[]
  /**
   * Paths, from the sheet's directory, of the files on whose content results depend beside the inputs; absent for none. The kind receives
   * them with {@link DerivationKind.withSources}.
   */
  readonly sources?: readonly string[]
  /**
   * The fields that results depend on in all records, not only in the record at hand, and with them which records there are; absent for none.
   * The kind then has {@link DerivationKind.withRecords}.
   */
  readonly reads?: readonly string[]
  /** The formulas of the file, which a store can check beyond their syntax; absent for none. */
  readonly formulas?: readonly FormulaInFile[]
  /** Paths, from the sheet's directory, of other sheets; absent for none. The kind receives them after the files. */
  readonly sheets?: readonly string[]
}

/** A table outside of the sheet in which a derivation looks its targets up. */
export interface LookedUpTable {
  /** The file, or the other sheet. */
  readonly resource: Resource
  /** The column with the keys, and the field whose value is compared with them. */
  readonly key: string
  readonly match: string
  /** The column of each target. */
  readonly values: { readonly [target: string]: string }
}

/** The responses of a kind whose computations are requests. */
export interface KindResponses<Spec, P extends Plan> {
  /** Returns the key that identifies the request of a plan; secrets are not part of it. Pure. */
  requestKey(spec: Spec, plan: P): string
  /** Computes from a kept response as from a new one. */
  evaluate(spec: Spec, plan: P, response: KeptResponse): Result<Computed, Failure>
  /** Computes from the failure of the same request for another derivation, which may be a result for this one. Absent if it never is. */
  evaluateFailure?(spec: Spec, plan: P, failure: Failure): Result<Computed, Failure>
}

/**
 * One way of computing fields. A new kind is one folder under `kinds/`, one line in the registry and one registration in the kinds' common
 * test suite; runs know none by name.
 */
export interface DerivationKind<Spec = unknown, P extends Plan = Plan> {
  /** The value of `kind:` in the file, and `source` in provenance. */
  readonly name: string
  /**
   * True for a kind that computes from the plan alone, with nothing outside of the sheet and its store: its computations are no calls, which
   * are counted, bounded, refused, cached and shared between processes. As a step it is cached as any other. False by default.
   */
  readonly isLocal?: boolean
  /**
   * Returns the steps of a plan, in their order, without those that nothing is computed for. The computations of such a kind are no calls;
   * those of the steps are. An edit of the file makes only those cells stale whose hash is none of the plan's. Absent for any other kind.
   */
  stepsOf?(plan: P): readonly StepPlan[]
  /** Whether a step that cannot be carried out whatever the inputs, such as for a missing table, follows those of the plan. False by default. */
  isCutShort?(plan: P): boolean
  /** Returns all steps of a file. Absent for a kind without steps. */
  stepsOfFile?(spec: Spec): readonly DerivationStep[]
  /** Returns the most that all steps of a computation may cost, in dollars; null for no bound. Absent for a kind without steps. */
  maxCostOf?(spec: Spec): number | null
  /** Returns the environment variables that its computations receive, other than in requests. Absent for a kind whose computations receive none. */
  variablesOf?(spec: Spec): readonly string[]
  /** False for a kind that finds its inputs in its own keys, so that a file need not list them. True by default. */
  readonly needsListedInputs?: boolean
  /** False for a kind without use for other inputs than it finds: its steps do not take those that the file lists. True by default. */
  readonly readsListedInputs?: boolean
  /** Reads the keys of the file that are specific to the kind. Throws ContractError. */
  parse(file: JsonObject, targets: readonly string[], context: ParseContext): ParsedSpec<Spec>
  /**
   * Returns the spec with the content of its sources, from which `plan` then plans: called again whenever one of them has changed. Never
   * rejects because of a file, for which plans fail instead. A plan must hash only what its own result depends on, since cells are stale
   * exactly if their hash is another one. Absent for kinds without sources.
   */
  withSources?(spec: Spec, sources: readonly Source[]): Promise<Spec>
  /**
   * Returns why plans of a spec with its sources fail whatever the inputs, such as a missing table, and the key of the file that names the
   * source; null if they do not. Validation reports it.
   */
  sourceFault?(spec: Spec): { readonly key: string; readonly message: string } | null
  /**
   * Returns a version of what results depend on beside the file, the inputs and the content of the sources, such as descriptions in the
   * contract. It is part of the version of the sources: cells are checked when it changes. Absent for kinds that depend on nothing else.
   */
  versionOf?(spec: Spec): string
  /**
   * Returns the spec with what computations for these inputs take from other records, from which `plan` then plans, and the version of the
   * fields that were read. Absent for kinds that compute from the record at hand.
   */
  withRecords?(
    spec: Spec,
    inputs: readonly InputValues[],
    context: RecordsContext,
  ): Promise<{ readonly spec: Spec; readonly version: string | null }>
  /** Throws OperationError if something that the calls need is missing, such as an environment variable (D23). */
  prepare(spec: Spec): void
  /**
   * Returns the reason why the prices of computations are unknown, so that no run of it can keep `max_cost`; null if they are known. Absent
   * for kinds whose unknown prices count as zero.
   */
  priceProblem?(spec: Spec): string | null
  /** Pure: the same inputs make the same plan on every machine. Call it through {@link planComputation}. */
  plan(spec: Spec, inputs: InputValues): Planned<P>
  /**
   * Returns the dollars to reserve before the plan is carried out: the most that it is expected to cost. Null for an unknown price, which
   * counts as zero towards `max_cost`.
   */
  estimate(plan: P, policies: HostPolicies): number | null
  /**
   * Returns what the plan is expected to use, for dry runs; {@link estimate} is the most. `recorded`: what computations of the derivation,
   * as it is now, have used. Absent for kinds without tokens.
   */
  expected?(spec: Spec, plan: P, recorded: RecordedUsage | null): TokenEstimate
  /** Returns the first request that {@link run} sends, as it is recorded. Absent for kinds that send none. */
  firstRequest?(spec: Spec, plan: P): SentRequest
  /** Carries the plan out. Never rejects for an error of the host: that is a Failure. */
  run(spec: Spec, plan: P, context: RunContext): Promise<Result<Computed, Failure>>
  /**
   * Carries several plans out at once, instead of {@link run}: those that begin in the same turn of the event loop, a bounded number.
   * Returns a result for each item, in their order. Absent for kinds that compute one by one.
   */
  runBatch?(
    spec: Spec,
    items: readonly BatchItem<P>[],
    context: BatchContext,
  ): Promise<readonly Result<Computed, Failure>[]>
  /**
   * Returns the edits of the kind's own keys, whose paths begin there, for another name of a field: where they name fields, in templates and
   * in formulas. Pure. Throws ContractError for a place that cannot be edited. Absent for a kind whose own keys name no fields.
   */
  renameField?(file: JsonObject, context: RenameContext): readonly YamlEdit[]
  /** Returns the table in which targets are looked up, for lineage. Absent for kinds that compute from all their inputs. */
  tableOf?(spec: Spec): LookedUpTable
  /** Absent if no responses are kept. */
  readonly responses?: KindResponses<Spec, P>
}

/** Whether the computations of a kind are calls, which are counted, bounded, refused and shared between processes. */
export function makesCalls({ isLocal = false, stepsOf }: DerivationKind): boolean {
  return !isLocal && stepsOf === undefined
}

/** A derivation file, parsed and checked against the contract. */
export interface Derivation {
  /** Its name in `derivations/`, such as `currency.yaml`. */
  readonly file: string
  /** Hex SHA-256 of the file's bytes. */
  readonly sha256: string
  /** The file's text. */
  readonly text: string
  readonly kind: DerivationKind
  readonly spec: unknown
  readonly targets: readonly string[]
  /** Listed inputs, then fields only used in placeholders; each once. */
  readonly inputs: readonly string[]
  /** Inputs that must have a value for a request (D22). */
  readonly requiredInputs: readonly string[]
  /** Required inputs whose empty text counts as no value (`skip_blank`). */
  readonly nonEmptyInputs: readonly string[]
  /** Time for which a cell is not tried again after a permanent failure; Infinity for ever, null for none. */
  readonly retryFailedAfterMs: number | null
  readonly resources: readonly Resource[]
  /** See {@link ParsedSpec.sources}. */
  readonly sourcePaths: readonly string[]
  /** See {@link ParsedSpec.formulas}. */
  readonly formulas: readonly FormulaInFile[]
  /** See {@link ParsedSpec.sheets}. */
  readonly sheetPaths: readonly string[]
  /**
   * The version of all sources together; null for a derivation without any, and before they are read. For one that reads all records, the
   * version from which it was planned.
   */
  readonly sources: string | null
  /** See {@link ParsedSpec.reads}; null for none. */
  readonly reads: readonly string[] | null
  /**
   * The reason why this machine does not carry out the derivation: it does not allow one of its resources. Null if it does. A cell without
   * a value in the cache then fails with this text. Constant.
   */
  readonly refusal: string | null
}
