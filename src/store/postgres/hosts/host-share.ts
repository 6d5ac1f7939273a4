import type { HostLimits, HostListener, HostShare, SharedPause } from '../../shared-hosts.ts'
import type { ClientConnection } from '../database/connection.ts'
import { HostSlots } from './host-slots.ts'
import {
  hostNumber,
  leaveHost,
  notePause,
  notePauseEnd,
  renewShare,
  takeSlots,
  type RenewedShare,
} from './host-table.ts'

/** Milliseconds between two renewals of a share. */
const RENEW_MS = 1000

/** Milliseconds for which a share is valid here after its request; the database keeps it a second longer. */
const HELD_MS = 4000

/** Connects a share to the other processes. */
export interface ShareLink {
  /** The id of this process. */
  readonly holder: string
  /**
   * Requests that {@link PostgresHostShare.runQueries} is called when due: the share has a query, or its next renewal has
   * moved.
   */
  schedule(): void
  /** Notifies the other processes of a change at a host. */
  notify(db: ClientConnection, host: number): Promise<void>
  /** Removes the share, which has no more queries. */
  remove(): void
}

/** This process' share of the calls to one origin. Times are milliseconds of `performance.now()`. */
export class PostgresHostShare implements HostShare {
  readonly #origin: string
  readonly #listener: HostListener
  readonly #link: ShareLink
  readonly #slots = new HostSlots()
  /** Null before the first query. */
  #host: number | null = null
  #limit = 1
  #permits = 0
  /** Permits beyond this are returned as calls end. */
  #due = 0
  #heldUntil = -Infinity
  #underWay = 0
  /** The most calls that were under way or waited since the last renewal. */
  #peak = 0
  #reported = { wanted: 0, short: false }
  /** Whether permits were returned since the last renewal. */
  #hasReturned = false
  /** Requests that wait for a slot which has not been requested yet. */
  #requests = 0
  #pauseNumber = 0
  #newPause: { readonly ms: number; readonly status: number; readonly at: number } | 'end' | null = null
  #renewAt = Infinity
  #left = false

  constructor(origin: string, listener: HostListener, link: ShareLink) {
    this.#origin = origin
    this.#listener = listener
    this.#link = link
  }

  /** The number of the host; null before the first query. */
  get host(): number | null {
    return this.#host
  }

  /** Whether the share is valid, so that it may have permits. */
  get isHeld(): boolean {
    return performance.now() < this.#heldUntil
  }

  /** The time of the next query; -Infinity for at once. */
  get dueAt(): number {
    const hasQuery = this.#newPause !== null || this.#slots.lacking(this.#requests) !== null
    return hasQuery ? -Infinity : this.#renewAt
  }

  /** Renews the share soon, if calls are made: another process has notified of a change. */
  renewIfActive(): void {
    if (this.#renewAt < Infinity) this.#renewAt = -Infinity
  }

  setLimits({ concurrency, rate }: HostLimits): void {
    this.#slots.setRate(rate)
    if (concurrency === this.#limit) return
    this.#limit = concurrency
    this.renewIfActive()
    this.#link.schedule()
  }

  hasPermit(): boolean {
    if (this.isHeld && this.#underWay < this.#permits) return true
    const wanted = this.#wanted()
    this.#peak = Math.max(this.#peak, wanted)
    if (!this.isHeld || wanted > this.#reported.wanted) this.#renewSoon()
    return false
  }

  slotWait(): number {
    if (!this.isHeld) {
      this.#renewSoon()
      return Infinity
    }
    if (!this.#slots.areNeeded) return 0
    const wait = this.#slots.wait(performance.now())
    const requests = this.#listener.requests()
    this.#requests = this.#slots.lacking(requests) === null ? 0 : requests
    if (this.#requests > 0) this.#link.schedule()
    return wait
  }

  begin(): void {
    this.#underWay += 1
    this.#peak = Math.max(this.#peak, this.#underWay)
  }

  end(): void {
    this.#underWay -= 1
    if (this.#returnSurplus()) this.#renewSoon()
  }

  takeSlot(): () => boolean {
    const isOver = this.#slots.take()
    return () => !this.isHeld || isOver()
  }

  pause(ms: number, status: number): void {
    this.#newPause = { ms, status, at: performance.now() }
    this.#link.schedule()
  }

  endPause(): void {
    this.#newPause = 'end'
    this.#link.schedule()
  }

  leave(): void {
    this.#left = true
    this.#renewSoon()
  }

  /** Ends the share without a query: its permits and slots are void. */
  close(): void {
    this.#left = true
    this.#heldUntil = -Infinity
    this.#slots.clear()
  }

  /** Runs the queries that are due. */
  async runQueries(db: ClientConnection): Promise<void> {
    const host = (this.#host ??= await hostNumber(db, this.#origin))
    await this.#reportPause(db, host)
    await this.#requestSlots(db, host)
    if (this.#renewAt <= performance.now()) await this.#renew(db, host)
  }

  #wanted(): number {
    return Math.min(this.#limit, this.#underWay + this.#listener.waiting())
  }

  #renewSoon(): void {
    this.#renewAt = -Infinity
    this.#link.schedule()
  }

  /** Returns surplus permits; returns whether there were any. */
  #returnSurplus(): boolean {
    const kept = Math.max(this.#underWay + this.#aboutToBegin(), Math.min(this.#due, this.#limit))
    if (kept >= this.#permits) return false
    this.#permits = kept
    this.#hasReturned = true
    return true
  }

  /** Returns the number of calls that have a slot or are requesting one: without a permit the slot would be wasted. */
  #aboutToBegin(): number {
    const slots = Math.max(this.#slots.count, Math.min(1, this.#requests))
    return slots === 0 ? 0 : Math.min(slots, this.#listener.waiting())
  }

  async #reportPause(db: ClientConnection, host: number): Promise<void> {
    const pause = this.#newPause
    if (pause === null) return
    if (pause === 'end') await notePauseEnd(db, host)
    else {
      const { ms: askedMs, status, at } = pause
      await notePause(db, host, { askedMs, status, leftMs: askedMs - (performance.now() - at) })
    }
    if (this.#newPause === pause) this.#newPause = null
    await this.#link.notify(db, host)
  }

  async #renew(db: ClientConnection, host: number): Promise<void> {
    if (this.#left || (this.#peak === 0 && this.#wanted() === 0)) return this.#returnAll(db, host)
    const requestedAt = performance.now()
    // Calls that outlast the share still use permits.
    if (!this.isHeld) this.#permits = this.#underWay
    else this.#returnSurplus()
    const wanted = Math.max(Math.min(this.#peak, this.#limit), this.#wanted())
    const { short: wasShort } = this.#reported
    const [limit, kept, underWay, hasReturned] = [
      this.#limit,
      this.#permits,
      this.#underWay,
      this.#hasReturned,
    ]
    this.#reported.wanted = wanted
    this.#peak = 0
    this.#hasReturned = false
    this.#renewAt = requestedAt + RENEW_MS
    const renewed = await renewShare(db, { host, holder: this.#link.holder, limit, kept, underWay, wanted })
    if (renewed === null) return this.#startOver()
    const short = this.#apply(renewed, requestedAt, wanted)
    if ((hasReturned && renewed.othersShort) || (short && !wasShort)) await this.#link.notify(db, host)
  }

  /** Applies a renewed share; returns whether it has fewer permits than it is due. */
  #apply(
    { permits, due, left, pauseNumber, pause }: RenewedShare,
    requestedAt: number,
    wanted: number,
  ): boolean {
    this.#permits = permits
    this.#due = Math.max(0, Math.min(due, left))
    this.#heldUntil = requestedAt + HELD_MS
    const short = permits < Math.min(due, wanted)
    this.#reported.short = short
    if (this.#returnSurplus()) this.#renewSoon()
    this.#applyPause(pauseNumber, pause)
    this.#listener.onChange()
    return short
  }

  #applyPause(number: number, pause: SharedPause): void {
    // A pause of this process is reported first.
    if (number === this.#pauseNumber || this.#newPause !== null) return
    this.#pauseNumber = number
    if (pause.leftMs > 0) this.#listener.onPause(pause)
    else this.#listener.onPauseEnd()
  }

  async #returnAll(db: ClientConnection, host: number): Promise<void> {
    this.#heldUntil = -Infinity
    this.#permits = 0
    this.#due = 0
    this.#reported = { wanted: 0, short: false }
    this.#renewAt = Infinity
    await leaveHost(db, host, this.#link.holder)
    if (this.#left) this.#link.remove()
    await this.#link.notify(db, host)
  }

  async #requestSlots(db: ClientConnection, host: number): Promise<void> {
    const lacking = this.#slots.lacking(this.#requests)
    if (lacking === null || this.#left) return
    const requestedAt = performance.now()
    const slots = await takeSlots(db, host, lacking)
    this.#requests = 0
    if (slots === null) return this.#startOver()
    this.#slots.add(slots, lacking, requestedAt)
    this.#listener.onChange()
  }

  /** Starts over when the rows of the host were replaced. */
  #startOver(): void {
    this.#host = null
    this.#heldUntil = -Infinity
    this.#renewSoon()
  }
}
