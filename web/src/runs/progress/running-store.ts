import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { RateMeter } from './rate-meter.ts'

/** How far a run is. */
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

/** What goes on just now. */
export interface Running {
  /** The run that works, or waits to; as far as it is known to be. Null when none goes on. */
  readonly run: RunSummary | null
  /** Cells by the second; null while it cannot be told. */
  readonly perSecond: number | null
  /** Further runs, which wait for it. */
  readonly waiting: number
}

const NOTHING: Running = { run: null, perSecond: null, waiting: 0 }

/** The runs that go on, from all that tells of them: lists, streams, and those who start one. */
export class RunningStore {
  readonly #runs = new Map<string, RunSummary>()
  readonly #meters = new Map<string, RateMeter>()
  /** A list that was read before a run ended may arrive after its end has. */
  readonly #ended = new Set<string>()
  readonly #listeners = new Set<() => void>()
  /** The last run in the lists so far; null before the first. */
  #lastListed: number | null = null
  #running = NOTHING

  get running(): Running {
    return this.#running
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A run of which somebody knows that it has begun. */
  begin(run: RunSummary): void {
    if (run.state !== 'running' || this.#ended.has(run.id)) return
    this.#take(run)
    this.#changed()
  }

  /**
   * Takes over what a list says, and returns those runs whose end is news: they went on before, or have begun and ended
   * since the list before.
   */
  readList(runs: readonly RunSummary[], now: number): readonly RunSummary[] {
    const lastListed = this.#lastListed ?? Infinity
    const isNew = (id: string): boolean => Number(id) > lastListed && !this.#ended.has(id)
    const ended = runs.filter(({ id, state }) => state !== 'running' && (this.#runs.has(id) || isNew(id)))
    for (const { id } of ended) this.#remove(id)
    this.#lastListed = Math.max(this.#lastListed ?? 0, ...runs.map(({ id }) => Number(id)))
    for (const run of runs) {
      if (run.state !== 'running' || this.#ended.has(run.id)) continue
      this.#take(run)
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

  /** A run has ended; returns whether that is news. */
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
  }

  #take(run: RunSummary): void {
    const known = this.#runs.get(run.id)
    // What is further is newer.
    if (known === undefined || run.done >= known.done) this.#runs.set(run.id, run)
  }

  #measure(id: string, now: number): void {
    const run = this.#runs.get(id)
    // Until its total is known, a run waits.
    if (run === undefined || run.total === 0) return
    const meter = this.#meters.get(id) ?? new RateMeter()
    this.#meters.set(id, meter)
    meter.add(run.done, now)
  }

  #changed(): void {
    const runs = [...this.#runs.values()].toSorted((a, b) => Number(a.id) - Number(b.id))
    // One run works at a time; it is the one that knows how much there is to do.
    const run = runs.find(({ total }) => total > 0) ?? runs[0]
    this.#running =
      run === undefined
        ? NOTHING
        : { run, perSecond: this.#meters.get(run.id)?.perSecond ?? null, waiting: runs.length - 1 }
    for (const listener of this.#listeners) listener()
  }
}

/** That of the page. */
export const runningStore = new RunningStore()
