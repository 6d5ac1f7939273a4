/** Bodies up to this are so small that nobody counts them. */
export const SMALL_BODY = 64 * 1024

/**
 * Room in memory for the bodies of all calls under way. A body that finds no more waits until others are done with; the
 * one that has had room for longest never waits, so that there is always one that comes to its end.
 */
export class BodyRoom {
  readonly #capacity: number
  /** In the order of their coming. */
  readonly #shares = new Set<BodyShare>()
  #taken = 0

  /** `capacity`: bytes; what the oldest takes beyond them may come on top. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Begins a share, which has to be given back. */
  share(): BodyShare {
    return new BodyShare(this)
  }

  /** For its shares: room for so many bytes in all. */
  grant(share: BodyShare, bytes: number): boolean {
    this.#shares.add(share)
    const [oldest] = this.#shares
    if (share !== oldest && this.#taken + bytes - share.size > this.#capacity) return false
    this.#taken += bytes - share.size
    return true
  }

  /** For its shares: this one is done with. */
  leave(share: BodyShare): void {
    this.#shares.delete(share)
    this.giveBack(share.size)
  }

  /** For its shares: bytes that one no longer takes. */
  giveBack(bytes: number): void {
    this.#taken -= bytes
    for (const other of this.#shares) other.retry()
  }
}

/** What one call takes of the room. */
export class BodyShare {
  readonly #room: BodyRoom
  #size = 0
  #wanted = 0
  #waiting: (() => void) | null = null
  #over = false

  constructor(room: BodyRoom) {
    this.#room = room
  }

  /** Bytes that it has. */
  get size(): number {
    return this.#size
  }

  /**
   * Whether there is room for so many bytes in all. If not, `onRoom` is called once there is, in place of one given
   * before.
   */
  has(bytes: number, onRoom: () => void): boolean {
    if (this.#over || bytes <= Math.max(SMALL_BODY, this.#size)) return true
    this.#wanted = Math.max(bytes, this.#wanted)
    if (this.#take()) return true
    this.#waiting = onRoom
    return false
  }

  /** Waits for room for so many bytes in all. Rejects with the signal's reason, and wants no more then. */
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

  /** Gives back what it has beyond so many bytes. */
  shrinkTo(bytes: number): void {
    const surplus = this.#size - bytes
    if (surplus <= 0) return
    this.#size = bytes
    this.#wanted = bytes
    this.#room.giveBack(surplus)
  }

  /** For the room: others have given theirs back. */
  retry(): void {
    const waiting = this.#waiting
    if (waiting === null || !this.#take()) return
    this.#waiting = null
    waiting()
  }

  /** Gives everything back; whoever waits goes on without. */
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
