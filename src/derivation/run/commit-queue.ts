import { setTimeout as delay } from 'node:timers/promises'
import type { CellOutcome } from '../../store/cell-work.ts'
import { usageOfSteps } from '../plan/run-steps.ts'
import { recordedLine } from '../recording/recorded-call.ts'
import type { ResponseStore } from '../../store/stored-responses.ts'
import type { RunId } from '../../store/stored-run.ts'
import type { RunStore } from '../run-request.ts'
import type { CallBehind } from './call-behind.ts'
import type { ResultOfRun } from './cell-result.ts'
import type { Tally } from './tally.ts'

interface CommitQueueOptions {
  readonly store: Pick<RunStore, 'commitCells'> & { readonly responses: Pick<ResponseStore, 'limit'> }
  readonly run: RunId
  readonly actor: string
  /** Counts what is stored. */
  readonly tally: Tally
}

/** Results that are stored together, with those of the calls behind them. */
interface Stored extends CallBehind {
  readonly results: readonly ResultOfRun[]
}

interface Waiting extends Stored {
  resolve(outcomes: readonly CellOutcome[]): void
  reject(error: unknown): void
}

/** So many results make a commit well worth its sync to the disk. */
const WORTHWHILE = 192

/** The time for which fewer results than that wait for others; they wait again as long as this many arrive meanwhile. */
const LINGER_MS = 2
const MANY = 8

/**
 * Brings results to the store in groups: a sync to the disk costs more than storing a result, so a few milliseconds'
 * worth of results share one. Results are stored as a run goes all the same (D30).
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions
  #waiting: Waiting[] = []
  /** The number of waiting results. */
  #count = 0
  #storing = false
  /** Whether the store keeps recorded calls, which is read with the first. */
  #isRecording: boolean | null = null

  constructor(options: CommitQueueOptions) {
    this.#options = options
  }

  /** Resolves when the results are durable, with what became of each cell. */
  add(stored: Stored): Promise<readonly CellOutcome[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...stored, resolve, reject })
      this.#count += Math.max(1, stored.results.length)
      if (!this.#storing) void this.#storeAll()
    })
  }

  async #storeAll(): Promise<void> {
    this.#storing = true
    while (this.#waiting.length > 0) {
      await this.#linger()
      const group = this.#waiting
      this.#waiting = []
      this.#count = 0
      await this.#storeGroup(group)
    }
    this.#storing = false
  }

  /** Waits for others, as long as many arrive and no call waits until one is stored. */
  async #linger(): Promise<void> {
    for (let before = -Infinity; this.#count < WORTHWHILE;) {
      if (this.#count - before < MANY || this.#waiting.some(({ isAwaited }) => isAwaited)) return
      before = this.#count
      await delay(LINGER_MS)
    }
  }

  async #storeGroup(group: readonly Waiting[]): Promise<void> {
    const { store, run, actor, tally } = this.#options
    const results = group.flatMap((waiting) => waiting.results)
    const steps = group.flatMap((waiting) => waiting.steps)
    try {
      const outcomes = await store.commitCells({
        actor,
        run,
        progress: tally.beside,
        cells: results.map(({ stored }) => stored),
        cache: group.flatMap(({ cache }) => cache),
        made: group.flatMap(({ made }) => made),
        responses: group.flatMap(({ responses }) => responses),
        used: group.flatMap(({ used }) => used),
        recorded: await this.#linesOf(group),
        usage: [...group.flatMap(({ usage }) => usage), ...usageOfSteps(run, steps)],
      })
      tally.stored(results, outcomes)
      let start = 0
      for (const { results: own, resolve } of group) {
        resolve(outcomes.slice(start, start + own.length))
        start += own.length
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  /** Returns the lines of calls for the recording. */
  async #linesOf(group: readonly Waiting[]): Promise<readonly string[]> {
    const { store, run } = this.#options
    const calls = group.flatMap(({ recorded }) => recorded)
    if (calls.length === 0) return []
    this.#isRecording ??= (await store.responses.limit()) > 0
    return this.#isRecording ? calls.map((call) => recordedLine({ run, ...call })) : []
  }
}
