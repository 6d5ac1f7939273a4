import type { JsonValue } from '../contract/json/json.ts'
import type { CellChange, CellOfRun } from '../derivation/run-request.ts'
import { EventBus, type FrameQueue, type SizeOf, type Subscription } from '../events/event-bus.ts'
import type { FramesMissed, Placed } from '../events/frame.ts'
import { LEASE_MS } from '../store/run-tasks.ts'
import type { SharedFrames } from '../store/shared-frames.ts'
import type { RunId, RunProgress, StoredRun } from '../store/stored-run.ts'

/** A frame of a watched run. */
export type RunFrame =
  | { readonly kind: 'run.progress'; readonly id: RunId; readonly progress: RunProgress }
  /** Cells that are computed now, and cells that were stored; `omitted` more were stored and are not listed. */
  | {
      readonly kind: 'run.cells'
      readonly id: RunId
      readonly cells: readonly WatchedCell[]
      readonly omitted: number
    }
  /** The run has ended; nothing follows. */
  | { readonly kind: 'run.end'; readonly run: StoredRun }
  | FramesMissed

/** A watched run: its present state, and a subscription to its frames. */
export interface RunWatch {
  readonly first: readonly Placed<RunFrame>[]
  /** The id of the last frame before the subscription; null when frames have no ids, and when only the end follows. */
  readonly position: number | null
  /** See {@link EventBus.subscribe}; ends with the run. */
  subscribe(wake: () => void, sizeOf?: SizeOf<RunFrame>): FrameQueue<Placed<RunFrame>>
}

/** A cell that is computed now, or the result of a cell, without a long value. */
export type WatchedCell =
  | (CellOfRun & { readonly state: 'running' })
  | Exclude<CellChange, { readonly state: 'fresh' }>
  | (Omit<Extract<CellChange, { readonly state: 'fresh' }>, 'value'> & { readonly value?: JsonValue })

/** The length of a value's JSON, in characters, above which it is left out. */
const LONG_VALUE = 1000

/** The minimum interval, in milliseconds, between frames of a run. */
const THROTTLE_MS = 200

/** The interval, in milliseconds, at which cells that are computed are listed again. */
const REPEAT_MS = 1000

/** The most cells that a frame lists. */
export const CELLS_LISTED = 200

/** Returns the stream of a run's frames among those that servers share. */
export function runStream(id: RunId): string {
  return `run:${id}`
}

/**
 * Collects the events of a run and publishes them a few times a second: to subscribers of this process, or, where
 * servers share their frames, to those of all servers, whether or not anyone watches.
 */
export class RunFeed {
  readonly #id: RunId
  readonly #bus = new EventBus<RunFrame>()
  readonly #shared: SharedFrames | undefined
  readonly #sendsProgress: boolean
  #cells: WatchedCell[] = []
  #omitted = 0
  /** The cells to list as running. */
  #running: CellOfRun[] = []
  /** The cells of each call under way. */
  readonly #underWay = new Set<readonly CellOfRun[]>()
  #repeating: NodeJS.Timeout | null = null
  #progress: RunProgress
  #timer: NodeJS.Timeout | null = null
  #collectingSince = 0
  #ended: StoredRun | null = null

  /**
   * Publishes no progress when `sendsProgress` is false: the feed of a task has only a part of the run's, and the
   * coordinator publishes it.
   */
  constructor(id: RunId, progress: RunProgress, shared?: SharedFrames, sendsProgress = true) {
    this.#id = id
    this.#progress = progress
    this.#shared = shared
    this.#sendsProgress = sendsProgress
  }

  /** The progress of the run. */
  get progress(): RunProgress {
    return this.#progress
  }

  /** Subscribes as {@link EventBus.subscribe} does. A run that has ended still sends its end. */
  subscribe(wake: () => void, sizeOf?: SizeOf<RunFrame>): Subscription<RunFrame> {
    return this.#ended === null ? this.#bus.subscribe(wake, sizeOf) : subscribeToEnd(this.#ended, wake)
  }

  onProgress(progress: RunProgress): void {
    this.#progress = progress
    if (this.#hasReaders && this.#sendsProgress) this.#flushLater()
  }

  /** Updates the progress of a run that another process coordinates, and publishes. */
  learn(progress: RunProgress): void {
    this.#progress = progress
  }

  /** Lists the cells of a call, now and once a second until its results are stored, for those who subscribe meanwhile. */
  onBegun(cells: readonly CellOfRun[], stored: Promise<void>): void {
    this.#underWay.add(cells)
    this.#listRunning(cells)
    this.#repeating ??= setInterval(() => {
      for (const running of this.#underWay) this.#listRunning(running)
    }, REPEAT_MS)
    void stored.then(() => this.#onStored(cells))
  }

  #listRunning(cells: readonly CellOfRun[]): void {
    if (!this.#hasReaders) return
    this.#running.push(...cells.slice(0, CELLS_LISTED - this.#running.length))
    this.#flushLater()
  }

  /** Takes the collected cells: results, and as far as there is room those that are computed now. */
  #takeCells(): readonly WatchedCell[] {
    const stored = this.#cells
    const running = new Map(
      this.#running.map((cell) => [keyOf(cell), { ...cell, state: 'running' } as const]),
    )
    for (const cell of stored) running.delete(keyOf(cell))
    this.#cells = []
    this.#running = []
    return [...stored, ...running.values()].slice(0, CELLS_LISTED)
  }

  #onStored(cells: readonly CellOfRun[]): void {
    this.#underWay.delete(cells)
    if (this.#underWay.size === 0) this.#stopRepeating()
  }

  #stopRepeating(): void {
    if (this.#repeating !== null) clearInterval(this.#repeating)
    this.#repeating = null
  }

  onCells(cells: readonly CellChange[]): void {
    if (!this.#hasReaders) return
    const listed = Math.min(CELLS_LISTED - this.#cells.length, cells.length)
    this.#cells.push(...cells.slice(0, listed).map(abridged))
    this.#omitted += cells.length - listed
    this.#flushLater()
  }

  /** Sends collected events, then the end. */
  end(run: StoredRun): void {
    this.#progress = run
    this.#ended = run
    this.#stopRepeating()
    this.#flush({ kind: 'run.end', run })
    this.#bus.close()
  }

  /** Sends collected events and closes, when the end of the run is unknown. Does nothing after {@link end}. */
  close(): void {
    this.#stopRepeating()
    if (this.#timer !== null) this.#flush()
    this.#bus.close()
  }

  #flushLater(): void {
    if (this.#timer !== null) return
    this.#collectingSince = performance.now()
    this.#timer = setTimeout(() => this.#flush(), THROTTLE_MS)
  }

  /** Whether anyone is subscribed, or may read the frames later. */
  get #hasReaders(): boolean {
    return this.#shared !== undefined || this.#bus.size > 0
  }

  /**
   * Whether the progress is up to date. It is not after this process was suspended: others may have taken the run over
   * and published its end.
   */
  get #isCurrent(): boolean {
    return (
      this.#sendsProgress && (this.#ended !== null || performance.now() - this.#collectingSince < LEASE_MS)
    )
  }

  #flush(...last: readonly RunFrame[]): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const frames: RunFrame[] = []
    const cells = this.#takeCells()
    if (cells.length > 0) {
      frames.push({ kind: 'run.cells', id: this.#id, cells, omitted: this.#omitted })
      this.#omitted = 0
    }
    if (this.#isCurrent) frames.push({ kind: 'run.progress', id: this.#id, progress: this.#progress })
    frames.push(...last)
    if (this.#shared === undefined) for (const frame of frames) this.#bus.publish(frame)
    else
      this.#shared.publish(
        runStream(this.#id),
        frames.map((frame) => JSON.stringify(frame)),
      )
  }
}

function keyOf({ recordId, field }: CellOfRun): string {
  return `${field} ${recordId}`
}

function abridged(cell: CellChange): WatchedCell {
  if (cell.state === 'failed' || remaining(cell.value, LONG_VALUE) >= 0) return cell
  const { value: _long, ...rest } = cell
  return rest
}

/**
 * Returns the rest of a budget of characters after a value is written as JSON, approximately; negative as soon as it is
 * exceeded.
 */
function remaining(value: JsonValue, budget: number): number {
  if (typeof value === 'string') return budget - value.length - 2
  if (typeof value !== 'object' || value === null) return budget - 4
  let left = budget - 2
  for (const [key, item] of Object.entries(value)) {
    if (left < 0) return left
    left = remaining(item, Array.isArray(value) ? left - 1 : left - key.length - 4)
  }
  return left
}

/** Returns a subscription that receives the end of a run and closes. */
export function subscribeToEnd(run: StoredRun, wake: () => void): Subscription<RunFrame> {
  const bus = new EventBus<RunFrame>()
  const subscription = bus.subscribe(wake)
  queueMicrotask(() => {
    bus.publish({ kind: 'run.end', run })
    bus.close()
  })
  return subscription
}

/** Returns the progress frame of a stored run. */
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
