import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { Failure } from '../../errors/failure.ts'
import type { Result } from '../../errors/result.ts'
import type { KeptResponse, ReceivedResponse } from '../../store/stored-responses.ts'
import type { SharedHosts } from '../../store/shared-hosts.ts'
import { NotWanted, type Limiter } from '../limiter/limiter.ts'
import type { HostPolicies } from './host-policies.ts'

/** The values of a derivation's inputs in one record; a field without a value is null. */
export type InputValues = { readonly [field: string]: JsonValue }

/** The plan of one computation, made from the inputs alone. */
export interface Plan {
  /** The name of this computation in failures and provenance, for http `<METHOD> <URL>`. */
  readonly request: string
  /**
   * Exactly the members that go into the input hash beside the derivation file and the inputs (H4, D24), for http `url` and
   * `body`. Never a secret, and never a member of a name in {@link HASH_MEMBERS}.
   */
  readonly hashed: JsonObject
  /** The evidence known before the computation, for http `method` and `url`; no member that every entry has (evidence.ts). */
  readonly evidence: JsonObject
}

/** What planning a cell comes to. */
export type Planned<P extends Plan = Plan> =
  | { readonly outcome: 'run'; readonly plan: P }
  /** An input that the request needs is null: no request is sent, the cell is skipped (D22). */
  | { readonly outcome: 'blocked'; readonly field: string }
  | { readonly outcome: 'failed'; readonly failure: Failure }

/** The result of a computation: for each target its value or its failure, and the evidence for provenance. */
export interface Computed {
  readonly values: { readonly [target: string]: Result<JsonValue, Failure> }
  /** The evidence known after the computation, for http `status` and `duration_ms`; no member that every entry has (evidence.ts). */
  readonly evidence: JsonObject
  /**
   * Dollars that the computation cost, which replace the estimate; null when that is not known. Absent where the estimate is
   * the price. A computation that fails and costs something returns a failure for each target.
   */
  readonly cost?: number | null
  /** The response, to be kept; absent where there is none or it must not be. */
  readonly response?: ReceivedResponse | undefined
}

/** The means of a computation. */
export interface RunContext {
  /** Aborts calls under way when the run is stopped. */
  readonly signal: AbortSignal
  readonly policies: HostPolicies
  /** Limits the calls of all kinds to a resource together. */
  readonly limiter: Limiter
  /** The limits that several processes share; absent where this process has them to itself. */
  readonly hosts?: SharedHosts | undefined
  /** Must be called once when the call begins; from then on it counts. A kind that does not call it begins with `onSent`. */
  onBegun?(): void
  /** Must be called once when the call is sent; from then on it counts and may cost. */
  onSent(): void
  /**
   * Whether anybody still needs what the call would bring; asked before every try. Where not, the kind rejects with
   * {@link NotWanted} and does not call.
   */
  wanted(): boolean | Promise<boolean>
  /** Settles when what the call brought is stored. */
  readonly stored: Promise<void>
}

/** A plan of a batch. All of them have begun, and somebody needs each of them. */
export interface BatchItem<P extends Plan = Plan> {
  readonly plan: P
  /** See {@link RunContext}. */
  onSent(): void
}

/** The means of a batch. */
export type BatchContext = Pick<RunContext, 'signal' | 'policies' | 'limiter' | 'hosts'>

/** The error with which a call rejects that the bounds of the run leave no room for. */
export class NoRoom extends NotWanted {}

/**
 * Something beside the record that computations of a derivation touch. Calls to hosts are allowed by `--allow-net` and
 * `--offline`; the start message and the report of a derivation list all resources.
 */
export interface Resource {
  readonly type: 'host' | 'file' | 'sheet' | 'process'
  /**
   * For a host `host:port`, in the form in which a parsed URL has them; for a file or another sheet its path from the sheet's
   * directory; for a process its program.
   */
  readonly name: string
}

/** The context in which a kind reads a derivation file. */
export interface ParseContext {
  readonly contract: Contract
  /** The file as messages name it, such as `derivations/currency.yaml`. */
  readonly file: string
  /** Throws a ContractError that names the file, the line of `path` (keys from the document's root) and `message`. */
  fail(path: readonly (string | number)[], message: string): never
}

/** A derivation file as a kind has read it. */
export interface ParsedSpec<Spec> {
  readonly spec: Spec
  /** Fields that placeholders name: they count as inputs, listed or not (D20). */
  readonly usedFields: readonly string[]
  /**
   * Those of the used fields without whose value no request is made (D22). `plan` is blocked exactly where one of them is
   * null; the store counts such cells as blocked (D32).
   */
  readonly requiredFields: readonly string[]
  /** The resources that computations touch; empty for kinds that touch nothing but the record. */
  readonly resources: readonly Resource[]
}

/** The responses of a kind whose computations are requests. */
export interface KindResponses<Spec, P extends Plan> {
  /** Returns what identifies the request of a plan; secrets have no part in it. Pure. */
  requestKey(spec: Spec, plan: P): string
  /** Computes from a kept response, as from one that has just been received. */
  evaluate(spec: Spec, plan: P, response: KeptResponse): Result<Computed, Failure>
  /** Computes from why the same request failed for another derivation, which may be an answer for this one. Absent where it never is. */
  evaluateFailure?(spec: Spec, plan: P, failure: Failure): Result<Computed, Failure>
}

/**
 * One way of computing fields. A new kind is one folder under `kinds/`, one line in the registry and one
 * registration in the kinds' common test suite; the materializer knows none by name.
 */
export interface DerivationKind<Spec = unknown, P extends Plan = Plan> {
  /** The value of `kind:` in the file, and `source` in provenance. */
  readonly name: string
  /** Reads the keys of the file that are the kind's own (those that every file can have are not). Throws ContractError. */
  parse(file: JsonObject, targets: readonly string[], context: ParseContext): ParsedSpec<Spec>
  /** Throws OperationError when something the calls need is not there, such as an environment variable (D23). */
  prepare(spec: Spec): void
  /** Pure: the same inputs make the same plan on every machine. To be called through {@link planComputation}. */
  plan(spec: Spec, inputs: InputValues): Planned<P>
  /**
   * Returns the dollars that are reserved before the plan is carried out: the most that it is expected to cost. Null when the
   * price is not known, which counts as nothing towards `max_cost`.
   */
  estimate(plan: P, policies: HostPolicies): number | null
  /** Carries the plan out. Never rejects for an error at the far end: that is a Failure. */
  run(spec: Spec, plan: P, context: RunContext): Promise<Result<Computed, Failure>>
  /**
   * Carries several plans out in one go, instead of {@link run}: what begins in the same turn of the event loop, a bounded number.
   * Returns a result for each item, in their order. Absent for kinds that compute one by one.
   */
  runBatch?(
    spec: Spec,
    items: readonly BatchItem<P>[],
    context: BatchContext,
  ): Promise<readonly Result<Computed, Failure>[]>
  /** Absent where no responses are kept. */
  readonly responses?: KindResponses<Spec, P>
}

/** A derivation file, read and checked against the contract. */
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
  /** Inputs without whose value no request is made (D22). */
  readonly requiredInputs: readonly string[]
  /** Those of them whose empty text counts as no value (`skip_blank`). */
  readonly nonEmptyInputs: readonly string[]
  /** For so long a cell is left alone after a failure that is expected to last; Infinity for ever, null for not at all. */
  readonly retryFailedAfterMs: number | null
  readonly resources: readonly Resource[]
  /**
   * The reason why this machine carries out no computation of the derivation: it does not allow one of its resources. Null
   * when it carries them out. Otherwise a cell that the cache has no value for fails with this text. Always the same.
   */
  readonly refusal: string | null
}
