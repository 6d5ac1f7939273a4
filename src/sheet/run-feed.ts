import type { JsonValue } from '../contract/json/json.ts'
import type { CellChange } from '../derivation/run-request.ts'
import { EventBus, type FrameQueue, type SizeOf, type Subscription } from '../events/event-bus.ts'
import type { FramesMissed, Placed } from '../events/frame.ts'
import { LEASE_MS } from '../store/run-tasks.ts'
import type { SharedFrames } from '../store/shared-frames.ts'
import type { RunId, RunProgress, StoredRun } from '../store/stored-run.ts'

/** What somebody who watches a run is told. */
export type RunFrame =
  | { readonly kind: 'run.progress'; readonly id: RunId; readonly progress: RunProgress }
  /** Cells that have been stored; `omitted` more have been and are not listed. */
  | {
      readonly kind: 'run.cells'
      readonly id: RunId
      readonly cells: readonly WatchedCell[]
      readonly omitted: number
    }
  /** The run has ended; nothing follows. */
  | { readonly kind: 'run.end'; readonly run: StoredRun }
  | FramesMissed

/** A run to watch: how it stands, and how to hear of the rest. */
export interface RunWatch {
  readonly first: readonly Placed<RunFrame>[]
  /** The id of the last frame before those that come; null where frames have none, and where all that comes is the end. */
  readonly position: number | null
  /** See {@link EventBus.subscribe}; ends with the run. */
  subscribe(wake: () => void, sizeOf?: SizeOf<RunFrame>): FrameQueue<Placed<RunFrame>>
}

/** What became of a cell; a long value is left out. */
export type WatchedCell =
  | Exclude<CellChange, { readonly state: 'fresh' }>
  | (Omit<Extract<CellChange, { readonly state: 'fresh' }>, 'value'> & { readonly value?: JsonValue })

/** A value of about so many characters of JSON is long. */
const LONG_VALUE = 1000

/** Frames of a run come at most this often, however many cells are stored meanwhile. */
const THROTTLE_MS = 200

/** Cells that one frame lists. */
export const CELLS_LISTED = 200

/** The frames of a run among those that servers share. */
export function runStream(id: RunId): string {
  return `run:${id}`
}

/**
 * Gathers what happens in a run and passes it on to who watches, a few times a second: to subscribers of this process, or,
 * where servers share their frames, to them, whether or not anybody watches.
 */
export class RunFeed {
  readonly #id: RunId
  readonly #bus = new EventBus<RunFrame>()
  readonly #shared: SharedFrames | undefined
  readonly #tellsProgress: boolean
  #cells: WatchedCell[] = []
  #omitted = 0
  #progress: RunProgress
  #timer: NodeJS.Timeout | null = null
  #heldSince = 0
  #ended: StoredRun | null = null

  /** `tellsProgress`: false where what is gathered is of a piece of the run, and who sees to all of it tells how far it is. */
  constructor(id: RunId, progress: RunProgress, shared?: SharedFrames, tellsProgress = true) {
    this.#id = id
    this.#progress = progress
    this.#shared = shared
    this.#tellsProgress = tellsProgress
  }

  /** How far the run is. */
  get progress(): RunProgress {
    return this.#progress
  }

  /** See {@link EventBus.subscribe}. Of a run that has ended there is still the end to hear. */
  subscribe(wake: () => void, sizeOf?: SizeOf<RunFrame>): Subscription<RunFrame> {
    return this.#ended === null ? this.#bus.subscribe(wake, sizeOf) : subscribeToEnd(this.#ended, wake)
  }

  onProgress(progress: RunProgress): void {
    this.#progress = progress
    if (this.#isHeard && this.#tellsProgress) this.#flushLater()
  }

  onCells(cells: readonly CellChange[]): void {
    if (!this.#isHeard) return
    const room = Math.min(CELLS_LISTED - this.#cells.length, cells.length)
    this.#cells.push(...cells.slice(0, room).map(abridged))
    this.#omitted += cells.length - room
    this.#flushLater()
  }

  /** Sends what is held back, then the end. */
  end(run: StoredRun): void {
    this.#progress = run
    this.#ended = run
    this.#flush({ kind: 'run.end', run })
    this.#bus.close()
  }

  /** Sends what is held back and ends, when nobody knows how the run ended; after {@link end} it does nothing. */
  close(): void {
    if (this.#timer !== null) this.#flush()
    this.#bus.close()
  }

  #flushLater(): void {
    if (this.#timer !== null) return
    this.#heldSince = performance.now()
    this.#timer = setTimeout(() => this.#flush(), THROTTLE_MS)
  }

  /** Whether anybody listens, or may read later what is told now. */
  get #isHeard(): boolean {
    return this.#shared !== undefined || this.#bus.size > 0
  }

  /** A process that was halted meanwhile does not: others went on with the run, and may have told its end. */
  get #knowsProgress(): boolean {
    return this.#tellsProgress && (this.#ended !== null || performance.now() - this.#heldSince < LEASE_MS)
  }

  #flush(...last: readonly RunFrame[]): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const frames: RunFrame[] = []
    if (this.#cells.length > 0) {
      frames.push({ kind: 'run.cells', id: this.#id, cells: this.#cells, omitted: this.#omitted })
      this.#cells = []
      this.#omitted = 0
    }
    if (this.#knowsProgress) frames.push({ kind: 'run.progress', id: this.#id, progress: this.#progress })
    frames.push(...last)
    if (this.#shared === undefined) for (const frame of frames) this.#bus.publish(frame)
    else
      this.#shared.publish(
        runStream(this.#id),
        frames.map((frame) => JSON.stringify(frame)),
      )
  }
}

function abridged(cell: CellChange): WatchedCell {
  if (cell.state === 'failed' || roomLeft(cell.value, LONG_VALUE) >= 0) return cell
  const { value: _long, ...rest } = cell
  return rest
}

/** What is left of so many characters when a value is written as JSON, roughly; less than none as soon as it is too long. */
function roomLeft(value: JsonValue, room: number): number {
  if (typeof value === 'string') return room - value.length - 2
  if (typeof value !== 'object' || value === null) return room - 4
  let left = room - 2
  for (const [key, item] of Object.entries(value)) {
    if (left < 0) return left
    left = roomLeft(item, Array.isArray(value) ? left - 1 : left - key.length - 4)
  }
  return left
}

/** A subscription that gets the end of a run and ends. */
export function subscribeToEnd(run: StoredRun, wake: () => void): Subscription<RunFrame> {
  const bus = new EventBus<RunFrame>()
  const subscription = bus.subscribe(wake)
  queueMicrotask(() => {
    bus.publish({ kind: 'run.end', run })
    bus.close()
  })
  return subscription
}

/** How far a run is that was read from the store. */
export function progressOf(run: StoredRun): RunFrame {
  const { id, done, total, materialized, skipped, left, failed, calls, totalCost, unpricedCalls } = run
  const { manualLeft, manualOverwritten } = run
  return {
    kind: 'run.progress',
    id,
    progress: {
      done,
      total,
      materialized,
      skipped,
      left,
      failed,
      calls,
      totalCost,
      unpricedCalls,
      manualLeft,
      manualOverwritten,
    },
  }
}
