import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import type { RunCells } from '../../../../src/client/client.ts'
import { shownWork } from '../display/run-text.ts'
import { CellsUnderWay } from './cells-under-way.ts'
import { RateMeter } from './rate-meter.ts'

/** The progress of a run. */
export type RunProgress = Pick<
  RunSummary,
  | 'id'
  | 'done'
  | 'total'
  | 'materialized'
  | 'skipped'
  | 'failed'
  | 'calls'
  | 'total_cost'
  | 'unpriced_calls'
  | 'left'
  | 'manual_left'
  | 'manual_overwritten'
>

/** The current run and its rate. */
export interface Running {
  /** The run that computes or waits to; null for none. */
  readonly run: RunSummary | null
  /** Cells per second; null until known. */
  readonly perSecond: number | null
  /** The number of further runs, which wait for it. */
  readonly waiting: number
  /** Its cells for which a call is under way. */
  readonly underWay: CellsUnderWay
}

const NOTHING: Running = { run: null, perSecond: null, waiting: 0, underWay: CellsUnderWay.NONE }

/** The running runs, merged from lists, streams and responses. */
export class RunningStore {
  readonly #runs = new Map<string, RunSummary>()
  readonly #meters = new Map<string, RateMeter>()
  readonly #underWay = new Map<string, CellsUnderWay>()
  /** A list may arrive after the end of a run that it shows as running. */
  readonly #ended = new Set<string>()
  readonly #listeners = new Set<() => void>()
  readonly #beginListeners = new Set<(run: RunSummary) => void>()
  /** The latest run in the lists; null before the first list. */
  #lastListed: number | null = null
  #running = NOTHING

  get running(): Running {
    return this.#running
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls back when this page has started a run. */
  onBegin(listener: (run: RunSummary) => void): () => void {
    this.#beginListeners.add(listener)
    return () => this.#beginListeners.delete(listener)
  }

  /** Adds a run that this page has started. */
  begin(run: RunSummary): void {
    for (const listener of this.#beginListeners) listener(run)
    if (run.state !== 'running' || this.#ended.has(run.id)) return
    this.#merge(run)
    this.#changed()
  }

  /**
   * Merges a list, and returns the runs that have ended since: those that were running, or began and ended between two
   * lists.
   */
  readList(runs: readonly RunSummary[], now: number): readonly RunSummary[] {
    const lastListed = this.#lastListed ?? Infinity
    const isNew = (id: string): boolean => Number(id) > lastListed && !this.#ended.has(id)
    const ended = runs.filter(({ id, state }) => state !== 'running' && (this.#runs.has(id) || isNew(id)))
    for (const { id } of ended) this.#remove(id)
    this.#lastListed = Math.max(this.#lastListed ?? 0, ...runs.map(({ id }) => Number(id)))
    for (const run of runs) {
      if (run.state !== 'running' || this.#ended.has(run.id)) continue
      this.#merge(run)
      this.#measure(run.id, now)
    }
    this.#changed()
    return ended
  }

  progress(progress: RunProgress, now: number): void {
    const run = this.#runs.get(progress.id)
    if (run === undefined) return
    this.#runs.set(run.id, { ...run, ...progress })
    this.#measure(run.id, now)
    this.#changed()
  }

  /** Takes in cells that a run computes now, or has stored. */
  cells(id: string, cells: RunCells['cells'], now: number): void {
    if (!this.#runs.has(id)) return
    this.#underWay.set(id, (this.#underWay.get(id) ?? CellsUnderWay.NONE).after(cells, now))
    this.#changed()
  }

  /** Removes an ended run; returns whether it was running. */
  end(id: string): boolean {
    const isNews = !this.#ended.has(id)
    this.#remove(id)
    this.#changed()
    return isNews
  }

  #remove(id: string): void {
    this.#ended.add(id)
    this.#runs.delete(id)
    this.#meters.delete(id)
    this.#underWay.delete(id)
  }

  #merge(run: RunSummary): void {
    const known = this.#runs.get(run.id)
    // The run with more progress is newer.
    if (known === undefined || run.done >= known.done) this.#runs.set(run.id, run)
  }

  #measure(id: string, now: number): void {
    const run = this.#runs.get(id)
    // A run without a total has not started computing.
    if (run === undefined || run.total === 0) return
    const meter = this.#meters.get(id) ?? new RateMeter()
    this.#meters.set(id, meter)
    meter.add(shownWork(run).done, now)
  }

  #changed(): void {
    const runs = [...this.#runs.values()].toSorted((a, b) => Number(a.id) - Number(b.id))
    // One run computes at a time: the one whose total is known.
    const run = runs.find(({ total }) => total > 0) ?? runs[0]
    this.#running =
      run === undefined
        ? NOTHING
        : {
            run,
            perSecond: this.#meters.get(run.id)?.perSecond ?? null,
            waiting: runs.length - 1,
            underWay: this.#underWay.get(run.id) ?? CellsUnderWay.NONE,
          }
    for (const listener of this.#listeners) listener()
  }
}

export const runningStore = new RunningStore()
