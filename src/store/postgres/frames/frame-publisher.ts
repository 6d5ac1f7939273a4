import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { RecordsError } from '../../../errors/service-error.ts'
import type { Database } from '../database/database.ts'
import { addFrames, lastNumberOf, pruneFrames, type KeptFrames, type NewFrame } from './frame-table.ts'

/** The most frames, and characters of them, that wait to be stored: about as much as may wait for a subscriber. */
const WAITING_FRAMES = 1000
const WAITING_CHARACTERS = 32 * 1024 * 1024

/** The most frames, and characters of them, that one statement stores; a larger frame is stored alone. */
const BATCH_FRAMES = 500
const BATCH_CHARACTERS = 4 * 1024 * 1024

const FIRST_DELAY_MS = 50
const LONGEST_DELAY_MS = 10_000

/** Old frames are pruned again after so many new ones, or after so much time. */
const PRUNE_EVERY_FRAMES = 500
const PRUNE_EVERY_MS = 60_000

/** Stores the frames of this process in the order of publication. One statement stores the frames that arrive together. */
export class FramePublisher {
  readonly #database: Database
  readonly #kept: KeptFrames
  readonly #source = randomUUID()
  #waiting: NewFrame[] = []
  #characters = 0
  #numbers = 0
  #last = 0
  #working: Promise<void> | null = null
  #closing = false
  #wake: () => void = () => undefined
  #unpruned = Infinity
  #prunedAt = 0

  constructor(database: Database, kept: KeptFrames) {
    this.#database = database
    this.#kept = kept
  }

  /** The id of the last frame of this process that was stored; 0 before the first. */
  get last(): number {
    return this.#last
  }

  /** See `SharedFrames.publish`. */
  publish(stream: string, frames: readonly string[]): void {
    if (this.#closing) return
    for (const json of frames) {
      while (this.#isFull(json)) this.#drop(1)
      this.#numbers += 1
      this.#waiting.push({ stream, json, number: this.#numbers })
      this.#characters += json.length
    }
    if (this.#waiting.length > 0) this.#working ??= this.#work()
  }

  /** Resolves when no frames wait. */
  async idle(): Promise<void> {
    await this.#working
  }

  /** Stores the waiting frames, without further retries. */
  async close(): Promise<void> {
    this.#closing = true
    this.#wake()
    await this.#working
  }

  #isFull(json: string): boolean {
    const { length } = this.#waiting
    return length >= WAITING_FRAMES || (length > 0 && this.#characters + json.length > WAITING_CHARACTERS)
  }

  #drop(count: number): void {
    for (const { json } of this.#waiting.splice(0, count)) this.#characters -= json.length
  }

  /** Drops the waiting frames up to this number; some may already have been dropped to make room. */
  #dropUpTo(stored: number): void {
    const first = this.#waiting.findIndex(({ number }) => number > stored)
    this.#drop(first < 0 ? this.#waiting.length : first)
  }

  #batch(): NewFrame[] {
    let characters = 0
    const end = this.#waiting.findIndex(({ json }, index) => {
      characters += json.length
      return index >= BATCH_FRAMES || (index > 0 && characters > BATCH_CHARACTERS)
    })
    return end < 0 ? [...this.#waiting] : this.#waiting.slice(0, end)
  }

  async #work(): Promise<void> {
    // Frames published in the same turn of the event loop are stored together.
    await nextTurn()
    for (let failures = 0; this.#waiting.length > 0;) {
      try {
        // The outcome of a failed statement is unknown.
        if (failures > 0) this.#dropUpTo(await lastNumberOf(this.#database, this.#source))
        await this.#store(this.#batch())
        failures = 0
      } catch (error) {
        failures += 1
        if (this.#closing && (failures > 1 || !(error instanceof RecordsError)))
          this.#drop(this.#waiting.length)
        else await this.#pause(Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS))
      }
    }
    this.#working = null
  }

  async #store(batch: readonly NewFrame[]): Promise<void> {
    const newest = batch.at(-1)
    if (newest === undefined) return
    const { schema } = this.#database.location
    this.#last = await addFrames(this.#database, { schema, source: this.#source }, batch)
    this.#dropUpTo(newest.number)
    this.#unpruned += batch.length
    if (this.#unpruned < PRUNE_EVERY_FRAMES && performance.now() - this.#prunedAt < PRUNE_EVERY_MS) return
    this.#unpruned = 0
    this.#prunedAt = performance.now()
    // A failure is ignored: the next pruning makes up for it.
    await pruneFrames(this.#database, this.#kept).catch(() => undefined)
  }

  async #pause(ms: number): Promise<void> {
    if (this.#closing) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }
}
