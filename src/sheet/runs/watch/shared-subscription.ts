import { QUEUE_BYTES, QUEUE_LIMIT, type FrameQueue } from '../../../events/event-bus.ts'
import type { FramesMissed, Placed } from '../../../events/frame.ts'
import type { FrameListener, FramePage, SharedFrames, StoredFrame } from '../../../store/shared-frames.ts'

const MISSED = JSON.stringify({ kind: 'frames.missed' } satisfies FramesMissed)

/** The first and the longest delay, in milliseconds, after which a failed read of frames is repeated. */
const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 10_000

/** Parsed frames: all subscribers of a process share one copy. */
const PARSED = new WeakMap<StoredFrame, object>()

export interface SharedSubscriptionOptions<F> {
  readonly frames: SharedFrames
  readonly stream: string
  /** The id of the last frame that the subscriber has received. */
  readonly after: number
  /** See `EventBus.subscribe`. */
  wake(): void
  /** Whether nothing follows a frame. */
  isLast(frame: F | FramesMissed): boolean
  /** Called when no further frame can come. */
  onClosed?(): void
}

/**
 * One subscriber to frames that servers share. It receives every frame of a stream after an id, once and in order. Its
 * queue is bounded as in `EventBus`, but loses nothing: when it is full nothing more is queued, and later frames are
 * read from the store once the subscriber has emptied it. Frames that the store no longer has are reported as
 * `frames.missed`.
 */
export class SharedSubscription<F extends object> implements FrameQueue<Placed<F | FramesMissed>> {
  readonly #options: SharedSubscriptionOptions<F>
  readonly #waiting = new BoundedFrames()
  /** The frames that arrive during a read. */
  readonly #meanwhile = new BoundedFrames()
  /** The id up to which all frames were queued. */
  #position: number
  /** Whether the next frames have to be read from the store. */
  #isBehind = true
  #isReading = false
  #reading: Promise<void> = Promise.resolve()
  #closed = false
  /** The frame that ends the stream when nothing else does; see {@link endWith}. */
  #end: F | null = null
  #retry: NodeJS.Timeout | undefined
  readonly #stop: () => void

  constructor(options: SharedSubscriptionOptions<F>) {
    this.#options = options
    this.#position = options.after
    const { frames, stream } = options
    const listener: FrameListener = {
      onFrames: (some, upTo) => this.#receive(some, upTo),
      onGap: () => this.#fallBehind(),
      settled: () => this.#settled(),
      onClose: () => this.close(),
    }
    this.#stop = frames.listen(stream, listener)
    this.#catchUp()
  }

  get closed(): boolean {
    return this.#closed
  }

  take(): Placed<F | FramesMissed> | undefined {
    const stored = this.#waiting.shift()
    if (stored === undefined) return this.#takeEnd()
    const frame = parsed<F>(stored)
    if (this.#options.isLast(frame)) this.#detach()
    return frame
  }

  close(): void {
    if (this.#closed) return
    this.#detach()
    this.#options.wake()
  }

  /** Ends the stream with this frame, after all that is stored now, unless it ends by itself. */
  endWith(frame: F): void {
    if (this.#closed) return
    this.#end = frame
    // Reads once more, for frames that were published by now.
    this.#fallBehind()
  }

  #takeEnd(): F | undefined {
    if (this.#isBehind) {
      this.#catchUp()
      return undefined
    }
    if (this.#end === null || this.#closed) return undefined
    this.#detach()
    return this.#end
  }

  #detach(): void {
    this.#closed = true
    this.#waiting.clear()
    this.#meanwhile.clear()
    clearTimeout(this.#retry)
    this.#stop()
    this.#options.onClosed?.()
  }

  #receive(frames: readonly StoredFrame[], upTo: number): void {
    if (this.#isReading) this.#meanwhile.add(frames, upTo)
    else if (!this.#isBehind) this.#queue(frames, upTo)
  }

  #fallBehind(): void {
    this.#isBehind = true
    if (this.#isReading) this.#meanwhile.overflow()
    else if (this.#waiting.isEmpty) this.#catchUp()
  }

  #queue(frames: readonly StoredFrame[], upTo: number): void {
    const news = frames.filter(({ id }) => id > this.#position)
    const queued = this.#waiting.add(news, Math.max(upTo, this.#position))
    this.#position = Math.max(queued, this.#position)
    this.#isBehind = this.#waiting.isOverfull
    if (news.length > 0) this.#options.wake()
  }

  /** Reads the next frames, unless the queue has some or a read is under way. */
  #catchUp(): void {
    if (this.#isReading || this.#closed || !this.#isBehind || !this.#waiting.isEmpty) return
    clearTimeout(this.#retry)
    this.#reading = this.#read(FIRST_DELAY_MS)
  }

  async #settled(): Promise<void> {
    while (this.#isReading) await this.#reading
  }

  async #read(delayMs: number): Promise<void> {
    const { frames, stream, wake } = this.#options
    this.#isReading = true
    this.#meanwhile.clear()
    try {
      const page = await frames.read(stream, this.#position)
      this.#isReading = false
      if (!this.#closed) this.#takePage(page)
    } catch {
      this.#isReading = false
      if (this.#closed) return
      const readAgain = (): void => {
        this.#reading = this.#read(Math.min(delayMs * 2, LONGEST_DELAY_MS))
      }
      this.#retry = setTimeout(readAgain, delayMs).unref()
      return
    }
    // Also after an empty page: a subscriber that waits for the end takes it now.
    if (!this.#closed) wake()
  }

  #takePage({ frames, upTo, whole, missedUpTo }: FramePage): void {
    this.#waiting.clear()
    const gap = missedUpTo === null ? [] : [{ id: missedUpTo, json: MISSED }]
    this.#waiting.addUnbounded([...gap, ...frames])
    this.#position = upTo
    const { isOverfull } = this.#meanwhile
    this.#isBehind = !whole || isOverfull
    if (this.#isBehind) return
    const { frames: later, upTo: receivedUpTo } = this.#meanwhile
    this.#meanwhile.clear()
    this.#queue(later, receivedUpTo)
  }
}

function parsed<F extends object>(stored: StoredFrame): Placed<F | FramesMissed> {
  const known = PARSED.get(stored)
  if (known !== undefined) return known as Placed<F>
  const frame = { ...(JSON.parse(stored.json) as F), eventId: stored.id }
  PARSED.set(stored, frame)
  return frame
}

/** A bounded queue of frames. */
class BoundedFrames {
  #frames: StoredFrame[] = []
  #size = 0
  #upTo = 0
  #isOverfull = false

  get frames(): readonly StoredFrame[] {
    return this.#frames
  }

  /** The id up to which no frame is left out. */
  get upTo(): number {
    return this.#upTo
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  /** Whether frames were left out since the queue was empty. */
  get isOverfull(): boolean {
    return this.#isOverfull
  }

  shift(): StoredFrame | undefined {
    const frame = this.#frames.shift()
    if (frame !== undefined) this.#size -= frame.json.length
    return frame
  }

  /** Adds frames until the queue is full; returns the id up to which none is left out. */
  add(frames: readonly StoredFrame[], upTo: number): number {
    for (const frame of frames) {
      if (this.#isOverfull) return this.#upTo
      const { length } = frame.json
      const isFull =
        this.#frames.length >= QUEUE_LIMIT || (this.#size > 0 && this.#size + length > QUEUE_BYTES)
      if (isFull) this.#isOverfull = true
      else this.addUnbounded([frame])
    }
    if (!this.#isOverfull) this.#upTo = upTo
    return this.#upTo
  }

  addUnbounded(frames: readonly StoredFrame[]): void {
    for (const frame of frames) {
      this.#frames.push(frame)
      this.#size += frame.json.length
      this.#upTo = frame.id
    }
  }

  overflow(): void {
    this.#isOverfull = true
  }

  clear(): void {
    this.#frames = []
    this.#size = 0
    this.#upTo = 0
    this.#isOverfull = false
  }
}
