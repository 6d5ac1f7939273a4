import { Budget } from '../plan/budget.ts'
import { CommitQueue } from './commit-queue.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import { DerivationRun } from './derivation-run.ts'
import { FailureStreak } from '../failure-streak.ts'
import { runScope } from '../plan/run-scope.ts'
import { Planner, type RunScope } from '../plan/planner.ts'
import type { RunOutcome, RunRequest } from '../run-request.ts'
import { ReusedResponses } from './reused-responses.ts'
import { Tally } from './tally.ts'
import { UnusableCells } from './unusable-cells.ts'

/**
 * Runs derivations over the records that exist when it starts, level by level (D27), and stores results as they come
 * (D30). Knows no kind. Settles only when nothing is under way any more and all that was answered is stored; rejects
 * with the signal's reason when it is aborted, and with RunStoppedError where calls fail in a row. Either way the observer has been told of the last progress.
 */
export async function runDerivations(request: RunRequest): Promise<RunOutcome> {
  const run = new Run(request, await runScope(request))
  return run.toEnd()
}

class Run {
  readonly #request: RunRequest
  readonly #planner: Planner
  readonly #budget: Budget
  readonly #tally: Tally
  readonly #commits: CommitQueue
  readonly #unusable: UnusableCells
  readonly #streak: FailureStreak
  readonly #reuse: ReusedResponses | undefined
  /** Aborted when the run is stopped or breaks. A signal of its own: every call listens, which `AbortSignal.any` makes dear. */
  readonly #breaking = new AbortController()
  readonly #signal: AbortSignal
  /** What broke the run, if anything did. */
  #fault: { readonly error: unknown } | null = null

  constructor(request: RunRequest, scope: RunScope) {
    this.#request = request
    this.#signal = this.#breaking.signal
    this.#planner = new Planner(request, scope, this.#signal)
    this.#budget = new Budget(request)
    this.#streak = new FailureStreak(request.stopAfterFailures)
    const total = scope.total * request.targets.size
    this.#tally = new Tally({ total, manual: request.manual }, request.observer)
    const { store, id, actor } = request
    this.#reuse = request.reuseResponses ? new ReusedResponses(store.responses) : undefined
    this.#commits = new CommitQueue({ store, run: id, actor, tally: this.#tally })
    this.#unusable = new UnusableCells(this.#planner.derivations.flatMap(({ inputs }) => inputs))
  }

  async toEnd(): Promise<RunOutcome> {
    const { signal } = this.#request
    const stop = (): void => this.#breaking.abort(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    this.#tally.report()
    try {
      for (const level of this.#request.levels) {
        if (this.#streak.stopped === null) await this.#runLevel(level)
      }
      this.#tally.finish()
    } finally {
      signal.removeEventListener('abort', stop)
      this.#tally.report()
    }
    if (this.#streak.stopped !== null) throw this.#streak.stopped
    return { progress: this.#tally.progress, failures: this.#tally.failures }
  }

  async #runLevel(level: readonly Derivation[]): Promise<void> {
    const derivations = level.filter((derivation) => this.#planner.targets(derivation).length > 0)
    const status = await this.#request.store.status()
    const runs = derivations.map((derivation) => {
      const idle = this.#planner.idleCells(derivation, status)
      this.#tally.skip(idle)
      return () => this.#derive(derivation, idle)
    })
    this.#tally.report()
    // One after another where there are bounds, so that a dry run can say what they leave room for.
    if (this.#isBounded) for (const run of runs) await run()
    else await Promise.all(runs.map((run) => run()))
    this.#throwIfStopped()
  }

  get #isBounded(): boolean {
    return this.#request.maxCalls !== null || this.#request.maxCost !== null
  }

  async #derive(derivation: Derivation, idle: number): Promise<void> {
    if (this.#signal.aborted || this.#streak.stopped !== null) return
    const run = new DerivationRun(derivation, {
      planner: this.#planner,
      budget: this.#budget,
      tally: this.#tally,
      commits: this.#commits,
      unusable: this.#unusable,
      streak: this.#streak,
      reuse: this.#reuse,
      signal: this.#signal,
      onFault: (error) => this.#break(error),
    })
    const listed = await run.run()
    if (this.#signal.aborted || this.#streak.stopped !== null) return
    const cells = this.#planner.scope.total * this.#planner.targets(derivation).length
    this.#tally.skip(cells - listed - idle)
    this.#tally.report()
  }

  #break(error: unknown): void {
    const { signal } = this.#request
    this.#fault ??= { error: signal.aborted ? signal.reason : error }
    this.#breaking.abort(error)
  }

  /** Throws what broke or stopped the run, if anything did. */
  #throwIfStopped(): void {
    if (this.#fault !== null) throw this.#fault.error
    this.#request.signal.throwIfAborted()
  }
}
