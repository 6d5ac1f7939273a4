import { OperationError } from '../errors/service-error.ts'
import type { SharedFrames } from '../store/shared-frames.ts'
import type { SheetStore } from '../store/sheet-store.ts'
import type { RunId, RunProgress } from '../store/stored-run.ts'
import { RunFeed } from './run-feed.ts'

/** The interval, in milliseconds, at which a run checks whether another process cancels it. */
const POLL_MS = 250

export const NO_PROGRESS: RunProgress = {
  done: 0,
  total: 0,
  materialized: 0,
  skipped: 0,
  failed: 0,
  calls: 0,
  totalCost: 0,
  unpricedCalls: 0,
  left: 0,
  manualLeft: 0,
  manualOverwritten: 0,
}

/** A run that this process executes. */
export class ActiveRun {
  readonly id: RunId
  readonly feed: RunFeed
  /** Aborted when the run is cancelled or the sheet is being closed. */
  readonly signal: AbortSignal
  /** Resolves when the run has ended and its end is stored. */
  readonly ended: Promise<void>
  readonly #cancelling = new AbortController()
  #cancelledBy: string | null = null
  readonly #end: () => void

  /** Publishes progress to the subscribers of all servers when `shared` is given. */
  constructor(id: RunId, stopping: AbortSignal, shared?: SharedFrames) {
    this.id = id
    this.feed = new RunFeed(id, NO_PROGRESS, shared)
    this.signal = AbortSignal.any([stopping, this.#cancelling.signal])
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
  }

  /** The first actor that cancelled it; null when none did. */
  get cancelledBy(): string | null {
    return this.#cancelledBy
  }

  /** Cancels the run: no new call starts, calls under way are aborted, stored results stay. */
  cancel(actor: string): void {
    this.#cancelledBy ??= actor
    this.#cancelling.abort(
      new OperationError(`the run was cancelled by ${JSON.stringify(actor)}`, 'run_cancelled'),
    )
  }

  finish(): void {
    this.#end()
  }
}

type RunsStore = Pick<SheetStore, 'cancelRequest'>

/** The runs that this process executes. */
export class ActiveRuns {
  readonly #runs = new Map<RunId, ActiveRun>()

  get(id: RunId): ActiveRun | undefined {
    return this.#runs.get(id)
  }

  /**
   * Executes a run. Until it has ended it can be found, watched and cancelled, by other processes through the store.
   */
  async during<T>(run: ActiveRun, store: RunsStore, work: () => Promise<T>): Promise<T> {
    this.#runs.set(run.id, run)
    const poll = setInterval(() => void cancelIfAsked(run, store), POLL_MS)
    try {
      return await work()
    } finally {
      clearInterval(poll)
      this.#runs.delete(run.id)
      run.feed.close()
      run.finish()
    }
  }
}

async function cancelIfAsked(run: ActiveRun, store: RunsStore): Promise<void> {
  // A store that cannot be read is asked again by the next poll.
  const actor = await store.cancelRequest(run.id).catch(() => null)
  if (actor !== null) run.cancel(actor)
}
