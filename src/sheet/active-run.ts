import { OperationError } from '../errors/service-error.ts'
import type { SharedFrames } from '../store/shared-frames.ts'
import type { SheetStore } from '../store/sheet-store.ts'
import type { RunId, RunProgress } from '../store/stored-run.ts'
import { RunFeed } from './run-feed.ts'

/** How often a run looks whether another process wants it to end, and tells the store of calls that brought nothing yet. */
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

/** A run that this process has under way. */
export class ActiveRun {
  readonly id: RunId
  readonly feed: RunFeed
  /** Aborted when the run is cancelled or the sheet is being closed. */
  readonly signal: AbortSignal
  /** Resolves when the run has ended and the store knows. */
  readonly ended: Promise<void>
  readonly #cancelling = new AbortController()
  #cancelledBy: string | null = null
  readonly #end: () => void

  /** `shared`: where what it does is told to subscribers of all servers. */
  constructor(id: RunId, stopping: AbortSignal, shared?: SharedFrames) {
    this.id = id
    this.feed = new RunFeed(id, NO_PROGRESS, shared)
    this.signal = AbortSignal.any([stopping, this.#cancelling.signal])
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
  }

  /** Who wanted it to end, first of all; null when nobody did. */
  get cancelledBy(): string | null {
    return this.#cancelledBy
  }

  /** Stops the run: no new call starts, calls under way are aborted, what is stored stays. */
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

type RunsStore = Pick<SheetStore, 'cancelRequest' | 'noteCalls' | 'tasks'>

/** The runs that this process has under way. */
export class ActiveRuns {
  readonly #runs = new Map<RunId, ActiveRun>()

  get(id: RunId): ActiveRun | undefined {
    return this.#runs.get(id)
  }

  /** Carries out a run. Until it has ended it can be found, watched and cancelled, by other processes through the store. */
  async during<T>(run: ActiveRun, store: RunsStore, work: () => Promise<T>): Promise<T> {
    this.#runs.set(run.id, run)
    let noted = 0
    const poll = setInterval(() => {
      const { calls } = run.feed.progress
      // Where others compute, they note what they call.
      if (calls !== noted && store.tasks === undefined) void noteCalls(run, store)
      noted = calls
      void cancelIfAsked(run, store)
    }, POLL_MS)
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

/** A store that cannot be written just now hears of later calls. */
async function noteCalls({ id, feed }: ActiveRun, store: RunsStore): Promise<void> {
  const { calls, totalCost, unpricedCalls, skipped, left } = feed.progress
  await store.noteCalls(id, { calls, totalCost, unpricedCalls, skipped, left }).catch(() => undefined)
}

async function cancelIfAsked(run: ActiveRun, store: RunsStore): Promise<void> {
  // A store that cannot be read just now is asked again; a run that it stops will hear so itself.
  const actor = await store.cancelRequest(run.id).catch(() => null)
  if (actor !== null) run.cancel(actor)
}
