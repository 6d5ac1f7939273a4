import type { HostLimits, HostListener, HostShare, SharedPause } from '../../shared-hosts.ts'
import type { ClientConnection } from '../database/connection.ts'
import { HostSlots } from './host-slots.ts'
import {
  hostNumber,
  leaveHost,
  notePause,
  notePauseEnd,
  renewPart,
  takeSlots,
  type PartAnswer,
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
   * Requests that {@link PostgresHostShare.ask} is called when due: the share has a query, or its next renewal has moved.
   */
  look(): void
  /** Notifies the other processes of a change at a host. */
  tell(db: ClientConnection, host: number): Promise<void>
  /** Removes the share, which has no more queries. */
  ended(): void
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
  #places = 0
  /** Permits beyond this are returned as calls end. */
  #due = 0
  #heldUntil = -Infinity
  #underWay = 0
  /** The most calls that were under way or waited since the last renewal. */
  #peak = 0
  #told = { wanted: 0, short: false }
  /** Whether permits were returned since the last renewal. */
  #gaveBack = false
  /** Requests that wait for a slot which has not been requested yet. */
  #requests = 0
  #pauseNumber = 0
  #pauseHeard: { readonly ms: number; readonly status: number; readonly at: number } | 'end' | null = null
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
    const asks = this.#pauseHeard !== null || this.#slots.lacking(this.#requests) !== null
    return asks ? -Infinity : this.#renewAt
  }

  /** Renews the share soon, if calls are made: another process has notified of a change. */
  hear(): void {
    if (this.#renewAt < Infinity) this.#renewAt = -Infinity
  }

  setLimits({ concurrency, rate }: HostLimits): void {
    this.#slots.setRate(rate)
    if (concurrency === this.#limit) return
    this.#limit = concurrency
    this.hear()
    this.#link.look()
  }

  hasPlace(): boolean {
    if (this.isHeld && this.#underWay < this.#places) return true
    const wanted = this.#wanted()
    this.#peak = Math.max(this.#peak, wanted)
    if (!this.isHeld || wanted > this.#told.wanted) this.#ask()
    return false
  }

  slotWait(): number {
    if (!this.isHeld) {
      this.#ask()
      return Infinity
    }
    if (!this.#slots.areNeeded) return 0
    const wait = this.#slots.wait(performance.now())
    const requests = this.#listener.requests()
    this.#requests = this.#slots.lacking(requests) === null ? 0 : requests
    if (this.#requests > 0) this.#link.look()
    return wait
  }

  begin(): void {
    this.#underWay += 1
    this.#peak = Math.max(this.#peak, this.#underWay)
  }

  end(): void {
    this.#underWay -= 1
    if (this.#giveBack()) this.#ask()
  }

  takeSlot(): () => boolean {
    const isOver = this.#slots.take()
    return () => !this.isHeld || isOver()
  }

  pause(ms: number, status: number): void {
    this.#pauseHeard = { ms, status, at: performance.now() }
    this.#link.look()
  }

  endPause(): void {
    this.#pauseHeard = 'end'
    this.#link.look()
  }

  leave(): void {
    this.#left = true
    this.#ask()
  }

  /** Ends the share without a query: its permits and slots are void. */
  close(): void {
    this.#left = true
    this.#heldUntil = -Infinity
    this.#slots.clear()
  }

  /** Runs the queries that are due. */
  async ask(db: ClientConnection): Promise<void> {
    const host = (this.#host ??= await hostNumber(db, this.#origin))
    await this.#tellPause(db, host)
    await this.#askForSlots(db, host)
    if (this.#renewAt <= performance.now()) await this.#renew(db, host)
  }

  #wanted(): number {
    return Math.min(this.#limit, this.#underWay + this.#listener.waiting())
  }

  #ask(): void {
    this.#renewAt = -Infinity
    this.#link.look()
  }

  /** Returns surplus permits; returns whether there were any. */
  #giveBack(): boolean {
    const kept = Math.max(this.#underWay + this.#aboutToBegin(), Math.min(this.#due, this.#limit))
    if (kept >= this.#places) return false
    this.#places = kept
    this.#gaveBack = true
    return true
  }

  /** Returns the number of calls that have a slot or are requesting one: without a permit the slot would be wasted. */
  #aboutToBegin(): number {
    const slots = Math.max(this.#slots.count, Math.min(1, this.#requests))
    return slots === 0 ? 0 : Math.min(slots, this.#listener.waiting())
  }

  async #tellPause(db: ClientConnection, host: number): Promise<void> {
    const heard = this.#pauseHeard
    if (heard === null) return
    if (heard === 'end') await notePauseEnd(db, host)
    else {
      const { ms: askedMs, status, at } = heard
      await notePause(db, host, { askedMs, status, leftMs: askedMs - (performance.now() - at) })
    }
    if (this.#pauseHeard === heard) this.#pauseHeard = null
    await this.#link.tell(db, host)
  }

  async #renew(db: ClientConnection, host: number): Promise<void> {
    if (this.#left || (this.#peak === 0 && this.#wanted() === 0)) return this.#giveAllBack(db, host)
    const asked = performance.now()
    // Calls that outlast the share still use permits.
    if (!this.isHeld) this.#places = this.#underWay
    else this.#giveBack()
    const wanted = Math.max(Math.min(this.#peak, this.#limit), this.#wanted())
    const { short: wasShort } = this.#told
    const [limit, kept, underWay, gaveBack] = [this.#limit, this.#places, this.#underWay, this.#gaveBack]
    this.#told.wanted = wanted
    this.#peak = 0
    this.#gaveBack = false
    this.#renewAt = asked + RENEW_MS
    const answer = await renewPart(db, { host, holder: this.#link.holder, limit, kept, underWay, wanted })
    if (answer === null) return this.#forget()
    const short = this.#take(answer, asked, wanted)
    if ((gaveBack && answer.othersShort) || (short && !wasShort)) await this.#link.tell(db, host)
  }

  /** Applies a renewed share; returns whether it has fewer permits than it is due. */
  #take({ places, due, left, pauseNumber, pause }: PartAnswer, asked: number, wanted: number): boolean {
    this.#places = places
    this.#due = Math.max(0, Math.min(due, left))
    this.#heldUntil = asked + HELD_MS
    const short = places < Math.min(due, wanted)
    this.#told.short = short
    if (this.#giveBack()) this.#ask()
    this.#hearPause(pauseNumber, pause)
    this.#listener.onChange()
    return short
  }

  #hearPause(number: number, pause: SharedPause): void {
    // A pause of this process is reported first.
    if (number === this.#pauseNumber || this.#pauseHeard !== null) return
    this.#pauseNumber = number
    if (pause.leftMs > 0) this.#listener.onPause(pause)
    else this.#listener.onPauseEnd()
  }

  async #giveAllBack(db: ClientConnection, host: number): Promise<void> {
    this.#heldUntil = -Infinity
    this.#places = 0
    this.#due = 0
    this.#told = { wanted: 0, short: false }
    this.#renewAt = Infinity
    await leaveHost(db, host, this.#link.holder)
    if (this.#left) this.#link.ended()
    await this.#link.tell(db, host)
  }

  async #askForSlots(db: ClientConnection, host: number): Promise<void> {
    const lacking = this.#slots.lacking(this.#requests)
    if (lacking === null || this.#left) return
    const asked = performance.now()
    const slots = await takeSlots(db, host, lacking)
    this.#requests = 0
    if (slots === null) return this.#forget()
    this.#slots.add(slots, lacking, asked)
    this.#listener.onChange()
  }

  /** Starts over when the rows of the host were replaced. */
  #forget(): void {
    this.#host = null
    this.#heldUntil = -Infinity
    this.#ask()
  }
}
