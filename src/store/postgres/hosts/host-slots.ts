import type { SlotRate } from '../../shared-hosts.ts'
import { DatabaseClock } from '../database/database-clock.ts'
import type { Slots } from './host-table.ts'

/** As many moments are taken at once as there are in this time, at most: who dies or has no use for them any more keeps them from the others. */
const AHEAD_MS = 200

/** So many times as many as are taken at once have to be used, and none be lost, before more are taken at once. */
const TRUST = 8

/** The moments that a process has for its requests to a host. Times are milliseconds of `performance.now()`. */
export class HostSlots {
  readonly #clock = new DatabaseClock()
  #rate: SlotRate | null = null
  /** Earliest first. */
  #slots: number[] = []
  #batch = 1
  #used = 0

  /** Sets the rate that holds from now on; moments of another are of no use. */
  setRate(rate: SlotRate | null): void {
    if (rate?.spacingMs === this.#rate?.spacingMs && rate?.playMs === this.#rate?.playMs) return
    this.#rate = rate
    this.clear()
  }

  /** Whether there is a rate. */
  get areNeeded(): boolean {
    return this.#rate !== null
  }

  /** How many there are that are not over, and not used. */
  get count(): number {
    if (this.#rate !== null) this.#dropOver(performance.now(), this.#rate)
    return this.#slots.length
  }

  /** Gives all up. */
  clear(): void {
    this.#slots = []
    this.#batch = 1
    this.#used = 0
  }

  /** How long until the next moment; Infinity when there is none. */
  wait(now: number): number {
    if (this.#rate === null) return 0
    this.#dropOver(now, this.#rate)
    return Math.max(0, (this.#slots[0] ?? Infinity) - now)
  }

  /** What to ask for when so many requests wait; null when there is enough. Asks before the last moment is used. */
  lacking(waiting: number): (SlotRate & { readonly count: number }) | null {
    const missing = waiting - this.#slots.length
    if (this.#rate === null || missing <= 0 || this.#slots.length > this.#batch / 2) return null
    return { ...this.#rate, count: Math.min(missing, this.#batch) }
  }

  /** Adds moments that were asked for at a time and have come at another. */
  add(
    { last, now }: Slots,
    { count, spacingMs }: SlotRate & { readonly count: number },
    asked: number,
  ): void {
    this.#clock.note(now, asked, performance.now())
    // They are of no use if the rate has changed meanwhile.
    if (this.#rate?.spacingMs !== spacingMs) return
    const end = this.#clock.here(last)
    for (let index = count - 1; index >= 0; index -= 1) this.#slots.push(end - index * spacingMs)
  }

  /** Takes the next moment; answers with what tells whether it is over. */
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
      // Whoever could not use it asks for less at a time.
      this.#batch = Math.max(1, Math.floor(this.#batch / 2))
      this.#used = 0
    }
  }
}
