import type { CellCommit, CellOutcome } from '../../store/cell-work.ts'
import type { RunProgress } from '../../store/stored-run.ts'
import { Prices, type Price } from '../plan/budget.ts'
import type { ResultOfRun } from './cell-result.ts'
import type { CellChange, CellOfRun, RunObserver } from '../run-request.ts'

/** The cells of a run when it begins. */
interface CountedCells {
  readonly total: number
  /** Those that have a value written by hand. */
  readonly manual: number
  /** Those that have failed already. */
  readonly failed: number
}

/** Counts what becomes of a run's cells, and tells who watches. */
export class Tally {
  readonly #total: number
  readonly #sent = new Prices()
  #calls = 0
  readonly #observer: RunObserver
  #materialized = 0
  #skipped = 0
  #left = 0
  readonly #manual: number
  #overwritten = 0
  /** Cells that were counted as left alone and then had something to do after all, since somebody wrote an input. */
  #owed = 0
  #failed: number

  constructor({ total, manual, failed }: CountedCells, observer: RunObserver) {
    this.#total = total
    this.#manual = manual
    this.#failed = failed
    this.#observer = observer
  }

  /**
   * The progress of the run: `done` never falls and never exceeds `total`. Nor does `skipped` fall, but for a cell that had
   * been counted as left alone and is computed in the end.
   */
  get progress(): RunProgress {
    const [materialized, failed] = [this.#materialized, this.#failed]
    const skipped = Math.min(this.#skipped, this.#total - materialized - failed)
    return {
      done: materialized + skipped + failed,
      total: this.#total,
      materialized,
      skipped,
      failed,
      calls: this.#calls,
      totalCost: this.#sent.sum,
      unpricedCalls: this.#sent.unpriced,
      left: this.#left,
      manualLeft: Math.max(0, this.#manual - this.#overwritten),
      manualOverwritten: this.#overwritten,
    }
  }

  /** Tells of cells whose computation begins, of none for a step; `stored` as for {@link RunObserver.onBegun}. */
  computing(cells: readonly CellOfRun[], stored: Promise<void>): void {
    if (cells.length > 0) this.#observer.onBegun(cells, stored)
  }

  /** Counts a call that begins. */
  begun(): void {
    this.#calls += 1
    this.report()
  }

  /** Counts the price of a call that has been sent. */
  sent(price: Price): void {
    this.#sent.add(price)
    this.report()
  }

  /** Replaces the price of a call that has been sent by its actual amount. */
  settled(price: Price, actual: Price): void {
    this.#sent.settle(price, actual)
    this.report()
  }

  /** The counts of the run that a commit stores beside its cells. */
  get beside(): CellCommit['progress'] {
    const { skipped, left, calls, totalCost, unpricedCalls } = this.progress
    return { skipped, left, calls, totalCost, unpricedCalls }
  }

  report(): void {
    this.#observer.onProgress(this.progress)
  }

  /** Counts cells that are left alone; fewer than none take back as much of what was counted too early. */
  skip(cells: number): void {
    const repaid = Math.min(this.#owed, Math.max(0, cells))
    this.#owed += Math.max(0, -cells) - repaid
    this.#skipped += Math.max(0, cells) - repaid
  }

  /** Counts cells with work that are left alone since the bounds of the run leave no room for them. */
  leave(cells: number): void {
    this.#left += cells
    this.skip(cells)
  }

  /** Counts what a commit has stored, and tells of it. */
  stored(results: readonly ResultOfRun[], outcomes: readonly CellOutcome[]): void {
    const changes: CellChange[] = []
    for (const [index, { change }] of results.entries()) {
      const { outcome, overwrote = false } = outcomes[index] as CellOutcome & { readonly overwrote?: true }
      if (overwrote) this.#overwritten += 1
      // What is refused comes again, as a failure.
      if (outcome === 'refused') continue
      if (outcome === 'superseded' || change === null) this.skip(1)
      else changes.push(change)
    }
    for (const change of changes) {
      if (change.state === 'fresh') this.#materialized += 1
      else this.#failed += 1
    }
    if (changes.length > 0) this.#observer.onCells(changes)
    this.report()
  }
}

/** Returns the progress of a run that computes nothing more: cells that were neither computed nor failed count as skipped. */
export function withRestSkipped(progress: RunProgress): RunProgress {
  const { total, materialized, failed } = progress
  return { ...progress, skipped: total - materialized - failed, done: total }
}
