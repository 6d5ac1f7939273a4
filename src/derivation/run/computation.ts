import type { Derivation } from '../definition/derivation-kind.ts'
import type { FailureStreak } from '../failure-streak.ts'
import { Budget } from '../plan/budget.ts'
import { Planner, type RunScope } from '../plan/planner.ts'
import type { RunRequest } from '../run-request.ts'
import { CommitQueue } from './commit-queue.ts'
import { DerivationRun } from './derivation-run.ts'
import type { PartsOfRun } from './parts-of-run.ts'
import { ReusedResponses } from './reused-responses.ts'
import type { Tally } from './tally.ts'
import { UnusableCells } from './unusable-cells.ts'

/** The counts and the failures in a row of a {@link Computation}. */
export interface ComputationCounts {
  readonly tally: Tally
  readonly streak: FailureStreak
}

/**
 * Computes cells of a run in this process, derivation by derivation, and stores results as they arrive (D30). The derivations share bounds,
 * commits and responses. Knows no kind.
 */
export class Computation {
  readonly planner: Planner
  readonly #request: RunRequest
  readonly #parts: PartsOfRun
  /** Aborted when the run is stopped or breaks. A signal of its own: every call listens, which `AbortSignal.any` makes expensive. */
  readonly #breaking = new AbortController()
  readonly #stop = (): void => this.#breaking.abort(this.#request.signal.reason)
  /** The error that broke the run. */
  #fault: { readonly error: unknown } | null = null

  constructor(request: RunRequest, scope: RunScope, { tally, streak }: ComputationCounts) {
    const { store, id, actor, signal, calls, settled } = request
    this.#request = request
    this.planner = new Planner(request, scope, this.#breaking.signal)
    this.#parts = {
      planner: this.planner,
      budget: new Budget(request),
      tally,
      commits: new CommitQueue({ store, run: id, actor, tally }),
      unusable: new UnusableCells(this.planner.derivations.flatMap(({ inputs }) => inputs)),
      calls,
      reuse: request.reuseResponses ? new ReusedResponses(store.responses) : undefined,
      settled,
      streak,
      signal: this.#breaking.signal,
      onFault: (error) => this.#break(error),
    }
    if (signal.aborted) this.#stop()
    signal.addEventListener('abort', this.#stop)
  }

  /** Reads which cells of earlier derivations the run could not compute, so that nothing is computed from them (D27). */
  async readFailed(earlier: readonly Derivation[]): Promise<void> {
    await this.#parts.unusable.addFailed(this.planner, earlier)
  }

  /**
   * Computes the cells of a derivation, and returns how many there were. Settles only when no call is under way and all results are stored.
   * Rejects with the reason of the request's signal, with the error that broke the run, also in another derivation, and with
   * RunStoppedError when calls fail in a row.
   */
  async compute(derivation: Derivation): Promise<number> {
    const listed = await new DerivationRun(derivation, this.#parts).run()
    if (this.#fault !== null) throw this.#fault.error
    this.#request.signal.throwIfAborted()
    if (this.#parts.streak.stopped !== null) throw this.#parts.streak.stopped
    return listed
  }

  /** Reports the last counts. */
  close(): void {
    this.#request.signal.removeEventListener('abort', this.#stop)
    this.#parts.tally.report()
  }

  #break(error: unknown): void {
    const { signal } = this.#request
    this.#fault ??= { error: signal.aborted ? signal.reason : error }
    this.#breaking.abort(error)
  }
}
