import { FailureStreak } from '../failure-streak.ts'
import type { RunScope } from '../plan/planner.ts'
import type { RunRequest } from '../run-request.ts'
import { Computation } from './computation.ts'
import type { Level, LevelTasks } from './run-levels.ts'
import { Tally } from './tally.ts'

/** The cells of a run beside those that it computes. */
interface OtherCells {
  /** Those with a value written by hand when the run begins. */
  readonly manual: number
  /** Those of records that do not exist, which count as failed (D29). */
  readonly absent: number
}

/** The tasks of a run that this process computes alone: one for each derivation of a level. */
export class LocalTasks implements LevelTasks {
  readonly #tally: Tally
  readonly #computation: Computation
  #level: Level['derivations'] = []

  constructor(request: RunRequest, scope: RunScope, { manual, absent }: OtherCells) {
    const total = scope.total * request.targets.size + absent
    this.#tally = new Tally({ total, manual, failed: absent }, request.observer)
    const streak = new FailureStreak(request.stopAfterFailures)
    this.#computation = new Computation(request, scope, { tally: this.#tally, streak })
  }

  add({ derivations }: Level): Promise<void> {
    this.#level = derivations
    for (const { idle } of derivations) this.#tally.skip(idle)
    this.#tally.report()
    return Promise.resolve()
  }

  async settled(): Promise<void> {
    const ends = await Promise.allSettled(this.#level.map((task) => this.#compute(task)))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  close(): void {
    this.#computation.close()
  }

  async #compute({ derivation, idle }: Level['derivations'][number]): Promise<void> {
    const { planner } = this.#computation
    const listed = await this.#computation.compute(derivation)
    this.#tally.skip(planner.scope.total * planner.targets(derivation).length - listed - idle)
    this.#tally.report()
  }
}
