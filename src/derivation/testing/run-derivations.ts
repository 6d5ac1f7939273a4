import { RunStoppedError } from '../../errors/service-error.ts'
import type { RunProgress } from '../../store/stored-run.ts'
import { Planner } from '../plan/planner.ts'
import { runScope } from '../plan/run-scope.ts'
import { LocalTasks } from '../run/local-tasks.ts'
import { runLevels } from '../run/run-levels.ts'
import { withRestSkipped } from '../run/tally.ts'
import type { CellFailure, RunObserver, RunRequest } from '../run-request.ts'

/** The last progress of a run, and the cells that failed. */
export interface RunOutcome {
  readonly progress: RunProgress
  readonly failures: readonly CellFailure[]
}

/** Test support: runs derivations in this process. Rejects as {@link LocalTasks} does, and then the observer has the last progress. */
export async function runDerivations(request: RunRequest): Promise<RunOutcome> {
  const scope = await runScope(request)
  const ending = new EndingObserver(request.observer)
  const tasks = new LocalTasks({ ...request, observer: ending }, scope, { manual: 0, absent: 0 })
  try {
    await runLevels(new Planner(request, scope), tasks)
  } catch (error) {
    tasks.close()
    if (error instanceof RunStoppedError) ending.skipRest()
    throw error
  }
  tasks.close()
  return { progress: ending.skipRest(), failures: ending.failures }
}

class EndingObserver implements RunObserver {
  readonly failures: CellFailure[] = []
  readonly #observer: RunObserver
  #progress: RunProgress | null = null

  constructor(observer: RunObserver) {
    this.#observer = observer
  }

  onBegun: RunObserver['onBegun'] = (cells, stored) => this.#observer.onBegun(cells, stored)

  onCells: RunObserver['onCells'] = (cells) => {
    for (const cell of cells) {
      if (cell.state === 'fresh') continue
      const { state: _, ...failure } = cell
      this.failures.push(failure)
    }
    this.#observer.onCells(cells)
  }

  onProgress: RunObserver['onProgress'] = (progress) => {
    this.#progress = progress
    this.#observer.onProgress(progress)
  }

  skipRest(): RunProgress {
    if (this.#progress === null) throw new Error('a run reports its progress')
    this.onProgress(withRestSkipped(this.#progress))
    return this.#progress
  }
}
