/** Bodies up to this size do not count. */
export const SMALL_BODY = 64 * 1024

/**
 * The memory budget for the bodies of all calls under way. A body that exceeds it waits until others are released; the oldest one never
 * waits, so that one always completes.
 */
export class BodyRoom {
  readonly #capacity: number
  /** In the order of their creation. */
  readonly #shares = new Set<BodyShare>()
  #taken = 0

  /** `capacity`: bytes; the oldest reservation may exceed them. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Begins a reservation, which must be given back. */
  share(): BodyShare {
    return new BodyShare(this)
  }

  /** Internal to {@link BodyShare}: reserves this many bytes in all. */
  grant(share: BodyShare, bytes: number): boolean {
    this.#shares.add(share)
    const [oldest] = this.#shares
    if (share !== oldest && this.#taken + bytes - share.size > this.#capacity) return false
    this.#taken += bytes - share.size
    return true
  }

  /** Internal to {@link BodyShare}: removes a reservation. */
  leave(share: BodyShare): void {
    this.#shares.delete(share)
    this.giveBack(share.size)
  }

  /** Internal to {@link BodyShare}: releases bytes. */
  giveBack(bytes: number): void {
    this.#taken -= bytes
    for (const other of this.#shares) other.retry()
  }
}

/** The memory that one call has reserved. */
export class BodyShare {
  readonly #room: BodyRoom
  #size = 0
  #wanted = 0
  #waiting: (() => void) | null = null
  #over = false

  constructor(room: BodyRoom) {
    this.#room = room
  }

  /** Reserved bytes. */
  get size(): number {
    return this.#size
  }

  /** Whether this many bytes in all are reserved. If not, `onRoom` is called once they may be; it replaces an earlier callback. */
  has(bytes: number, onRoom: () => void): boolean {
    if (this.#over || bytes <= Math.max(SMALL_BODY, this.#size)) return true
    this.#wanted = Math.max(bytes, this.#wanted)
    if (this.#take()) return true
    this.#waiting = onRoom
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
    this.#room.giveBack(surplus)
  }

  /** Internal to {@link BodyRoom}: others have released memory. */
  retry(): void {
    const waiting = this.#waiting
    if (waiting === null || !this.#take()) return
    this.#waiting = null
    waiting()
  }

  /** Releases everything; a waiting body continues without a reservation. */
  giveBack(): void {
    if (this.#over) return
    this.#over = true
    this.#room.leave(this)
    this.#size = 0
    this.#waiting?.()
    this.#waiting = null
  }

  #take(): boolean {
    if (!this.#room.grant(this, this.#wanted)) return false
    this.#size = this.#wanted
    return true
  }
}
