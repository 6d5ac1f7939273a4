import type { Static } from 'typebox'
import type { MaterializeAnswer, MaterializeBody, RunPlanAnswer } from '../wire/runs/materialize.ts'
import type { FailuresAnswer } from '../wire/runs/failures.ts'
import type { RevertAnswer } from '../wire/runs/revert.ts'
import type {
  RunAnswer,
  RunCellsFrame,
  RunFailuresAnswer,
  RunListAnswer,
  RunProgressFrame,
  RunSummary,
} from '../wire/runs/runs.ts'
import type { ActorOptions, CallOptions, Connection } from './connection.ts'
import { readEvents, type StreamOptions } from './read-events.ts'

/** The cells that a run selects, and its bounds. */
export type RunOrder = Omit<MaterializeBody, 'actor' | 'dry_run'>

/** Cells that a run has stored. */
export type RunCells = Static<typeof RunCellsFrame>

/** An event of the stream of a run. */
export type RunEvent =
  | { readonly kind: 'run.progress'; readonly data: Static<typeof RunProgressFrame> }
  | { readonly kind: 'run.cells'; readonly data: RunCells }
  /** Nothing follows. */
  | { readonly kind: 'run.end'; readonly data: RunSummary }

export interface RunPage {
  readonly limit?: number | undefined
  /** A `next_cursor` of the same list. */
  readonly cursor?: string | null | undefined
}

/** `/api/materialize`, `/api/runs` and `/api/revert`. */
export class RunsClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns the plan of a run, with calls and cost, and computes nothing. */
  plan(order: RunOrder = {}, options?: ActorOptions): Promise<RunPlanAnswer> {
    return this.#connection.writeAs('/api/materialize', { ...order, dry_run: true }, options)
  }

  /** Runs the derivations and waits for the end. To go away does not stop the run. */
  materialize(order: RunOrder = {}, options?: ActorOptions): Promise<MaterializeAnswer> {
    return this.#connection.writeAs('/api/materialize', order, options)
  }

  /** Starts a run, which goes on after this has answered: see {@link events}. */
  start(order: RunOrder = {}, options?: ActorOptions): Promise<RunAnswer> {
    return this.#connection.writeAs('/api/materialize', order, options, {
      headers: { prefer: 'respond-async' },
    })
  }

  /** Runs, the newest first. */
  list(page: RunPage = {}, options?: CallOptions): Promise<RunListAnswer> {
    return this.#connection.get('/api/runs', { ...page }, options)
  }

  get(id: string, options?: CallOptions): Promise<RunAnswer> {
    return this.#connection.get(pathOf(id), {}, options)
  }

  /** The cells that failed in a run, of all groups or of one. */
  failures(
    id: string,
    page: RunPage & { readonly group?: string | undefined } = {},
    options?: CallOptions,
  ): Promise<RunFailuresAnswer> {
    return this.#connection.get(`${pathOf(id)}/failures`, { ...page }, options)
  }

  /** Groups the cells that failed in a run by the reason of their failure. */
  failureGroups(id: string, options?: CallOptions): Promise<FailuresAnswer> {
    return this.#connection.get('/api/failures', { run: id }, options)
  }

  /** Ends a run; what it has computed stays. */
  cancel(id: string, options?: ActorOptions): Promise<RunAnswer> {
    return this.#connection.writeAs(`${pathOf(id)}/cancel`, {}, options)
  }

  /** Iterates over the events of a run until its end; a lost connection is made again. */
  async *events(id: string, options?: StreamOptions): AsyncGenerator<RunEvent, void, undefined> {
    for await (const { kind, data } of readEvents(this.#connection, `${pathOf(id)}/events`, options)) {
      if (kind === 'frames.missed') {
        options?.onReconnect?.()
        continue
      }
      yield { kind, data: JSON.parse(data) } as RunEvent
      if (kind === 'run.end') return
    }
  }

  /** Undoes what a run wrote; cells that hold something else by now are left, and listed. */
  revert(id: string, options?: ActorOptions): Promise<RevertAnswer> {
    return this.#connection.writeAs('/api/revert', { run_id: id }, options)
  }
}

function pathOf(id: string): string {
  return `/api/runs/${encodeURIComponent(id)}`
}
