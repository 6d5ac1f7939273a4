import type { SlotRate } from '../../shared-hosts.ts'
import { DatabaseClock } from '../database/database-clock.ts'
import type { Slots } from './host-table.ts'

/**
 * The most time that one batch of slots covers, in milliseconds: a process that dies or does not use its slots withholds
 * them from the others.
 */
const AHEAD_MS = 200

/** The batch doubles after so many batches' worth of slots were used and none lapsed. */
const TRUST = 8

/**
 * The slots of a process: the times at which it may send requests to a host. Times are milliseconds of `performance.now()`.
 */
export class HostSlots {
  readonly #clock = new DatabaseClock()
  #rate: SlotRate | null = null
  /** Earliest first. */
  #slots: number[] = []
  #batch = 1
  #used = 0

  /** Sets the rate; slots of another rate are dropped. */
  setRate(rate: SlotRate | null): void {
    if (rate?.spacingMs === this.#rate?.spacingMs && rate?.playMs === this.#rate?.playMs) return
    this.#rate = rate
    this.clear()
  }

  /** Whether a rate limits the requests. */
  get areNeeded(): boolean {
    return this.#rate !== null
  }

  /** The number of slots that have not lapsed. */
  get count(): number {
    if (this.#rate !== null) this.#dropOver(performance.now(), this.#rate)
    return this.#slots.length
  }

  clear(): void {
    this.#slots = []
    this.#batch = 1
    this.#used = 0
  }

  /** Returns the milliseconds until the next slot; Infinity for none. */
  wait(now: number): number {
    if (this.#rate === null) return 0
    this.#dropOver(now, this.#rate)
    return Math.max(0, (this.#slots[0] ?? Infinity) - now)
  }

  /**
   * Returns the slots to request when so many requests wait; null when there are enough. A new batch is requested before
   * the last slot is used.
   */
  lacking(waiting: number): (SlotRate & { readonly count: number }) | null {
    const missing = waiting - this.#slots.length
    if (this.#rate === null || missing <= 0 || this.#slots.length > this.#batch / 2) return null
    return { ...this.#rate, count: Math.min(missing, this.#batch) }
  }

  /** Adds requested slots; `asked` is the time of the request. */
  add(
    { last, now }: Slots,
    { count, spacingMs }: SlotRate & { readonly count: number },
    asked: number,
  ): void {
    this.#clock.note(now, asked, performance.now())
    // Slots of an earlier rate are useless.
    if (this.#rate?.spacingMs !== spacingMs) return
    const end = this.#clock.here(last)
    for (let index = count - 1; index >= 0; index -= 1) this.#slots.push(end - index * spacingMs)
  }

  /** Takes the next slot; returns a function that tells whether it has lapsed. */
  take(): () => boolean {
    const slot = this.#slots.shift()
    if (slot === undefined || this.#rate === null) return () => false
    const until = slot + this.#rate.playMs
    this.#used += 1
    if (this.#used >= this.#batch * TRUST) {
      this.#batch = Math.min(this.#batch * 2, Math.max(1, Math.floor(AHEAD_MS / this.#rate.spacingMs)))
      this.#used = 0
    }
    return () => performance.now() > until
  }

  #dropOver(now: number, { playMs }: SlotRate): void {
    while ((this.#slots[0] ?? Infinity) + playMs < now) {
      this.#slots.shift()
      // A process that let a slot lapse requests fewer at a time.
      this.#batch = Math.max(1, Math.floor(this.#batch / 2))
      this.#used = 0
    }
  }
}
