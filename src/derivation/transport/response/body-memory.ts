/** Bodies up to this size do not count. */
export const SMALL_BODY = 64 * 1024

/**
 * The memory budget for the bodies of all calls under way. A body that exceeds it waits until others are released; the oldest one never
 * waits, so that one always completes.
 */
export class BodyMemory {
  readonly #capacity: number
  /** In the order of their creation. */
  readonly #reservations = new Set<BodyReservation>()
  #taken = 0

  /** `capacity`: bytes; the oldest reservation may exceed them. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Begins a reservation, which must be given back. */
  reserve(): BodyReservation {
    return new BodyReservation(this)
  }

  /** Internal to {@link BodyReservation}: reserves this many bytes in all. */
  grant(reservation: BodyReservation, bytes: number): boolean {
    this.#reservations.add(reservation)
    const [oldest] = this.#reservations
    if (reservation !== oldest && this.#taken + bytes - reservation.size > this.#capacity) return false
    this.#taken += bytes - reservation.size
    return true
  }

  /** Internal to {@link BodyReservation}: removes a reservation. */
  remove(reservation: BodyReservation): void {
    this.#reservations.delete(reservation)
    this.release(reservation.size)
  }

  /** Internal to {@link BodyReservation}: releases bytes. */
  release(bytes: number): void {
    this.#taken -= bytes
    for (const other of this.#reservations) other.retry()
  }
}

/** The memory that one call has reserved. */
export class BodyReservation {
  readonly #memory: BodyMemory
  #size = 0
  #wanted = 0
  #waiting: (() => void) | null = null
  #over = false

  constructor(memory: BodyMemory) {
    this.#memory = memory
  }

  /** Reserved bytes. */
  get size(): number {
    return this.#size
  }

  /** Whether this many bytes in all are reserved. If not, `onFree` is called once they may be; it replaces an earlier callback. */
  has(bytes: number, onFree: () => void): boolean {
    if (this.#over || bytes <= Math.max(SMALL_BODY, this.#size)) return true
    this.#wanted = Math.max(bytes, this.#wanted)
    if (this.#take()) return true
    this.#waiting = onFree
    return false
  }

  /** Waits for this many bytes in all. Rejects with the signal's reason, and then waits no more. */
  async wait(bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (this.has(bytes, resolve)) return
    const onAbort = (): void => {
      this.#waiting = null
      this.#wanted = this.#size
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort)
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Releases the bytes beyond this many. */
  shrinkTo(bytes: number): void {
    const surplus = this.#size - bytes
    if (surplus <= 0) return
    this.#size = bytes
    this.#wanted = bytes
    this.#memory.release(surplus)
  }

  /** Internal to {@link BodyMemory}: others have released memory. */
  retry(): void {
    const waiting = this.#waiting
    if (waiting === null || !this.#take()) return
    this.#waiting = null
    waiting()
  }

  /** Releases everything; a waiting body continues without a reservation. */
  release(): void {
    if (this.#over) return
    this.#over = true
    this.#memory.remove(this)
    this.#size = 0
    this.#waiting?.()
    this.#waiting = null
  }

  #take(): boolean {
    if (!this.#memory.grant(this, this.#wanted)) return false
    this.#size = this.#wanted
    return true
  }
}
