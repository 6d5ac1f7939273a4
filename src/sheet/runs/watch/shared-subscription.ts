import { QUEUE_BYTES, QUEUE_LIMIT, type FrameQueue } from '../../../events/event-bus.ts'
import type { FramesMissed, Placed } from '../../../events/frame.ts'
import type { FrameListener, FramePage, SharedFrames, StoredFrame } from '../../../store/shared-frames.ts'

const MISSED = JSON.stringify({ kind: 'frames.missed' } satisfies FramesMissed)

/** Frames that could not be read are tried again, after longer and longer. */
const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 10_000

/** Frames as they were published, for as long as anybody wants them: all subscribers of a process share one copy. */
const PARSED = new WeakMap<StoredFrame, object>()

export interface SharedSubscriptionOptions<F> {
  readonly frames: SharedFrames
  readonly stream: string
  /** The id of the last frame that the subscriber has had. */
  readonly after: number
  /** See `EventBus.subscribe`. */
  wake(): void
  /** Whether nothing follows a frame. */
  isLast(frame: F | FramesMissed): boolean
  /** Called when no further frame can come. */
  onClosed?(): void
}

/**
 * One subscriber of frames that servers share: it is told every frame of a stream after an id, once and in their order. What
 * waits for it is bounded as in `EventBus`, but nothing is lost: when it is full nothing more is queued, and what came
 * meanwhile is read from the store once the subscriber has taken what waits. What is not kept there any more is told as
 * `frames.missed`.
 */
export class SharedSubscription<F extends object> implements FrameQueue<Placed<F | FramesMissed>> {
  readonly #options: SharedSubscriptionOptions<F>
  readonly #waiting = new BoundedFrames()
  /** What is told while frames are read. */
  readonly #meanwhile = new BoundedFrames()
  /** All up to this id has been queued. */
  #position: number
  /** Whether what comes next has to be read. */
  #isBehind = true
  #isReading = false
  #reading: Promise<void> = Promise.resolve()
  #closed = false
  /** What ends the stream when nothing else does; see {@link endWith}. */
  #end: F | null = null
  #retry: NodeJS.Timeout | undefined
  readonly #stop: () => void

  constructor(options: SharedSubscriptionOptions<F>) {
    this.#options = options
    this.#position = options.after
    const { frames, stream } = options
    const listener: FrameListener = {
      onFrames: (some, upTo) => this.#hear(some, upTo),
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
    if (this.#options.isLast(frame)) this.#leave()
    return frame
  }

  close(): void {
    if (this.#closed) return
    this.#leave()
    this.#options.wake()
  }

  /** Ends the stream with this frame, after all that is there now, unless it ends by itself. */
  endWith(frame: F): void {
    if (this.#closed) return
    this.#end = frame
    // Once more, for what was published by now.
    this.#fallBehind()
  }

  #takeEnd(): F | undefined {
    if (this.#isBehind) {
      this.#catchUp()
      return undefined
    }
    if (this.#end === null || this.#closed) return undefined
    this.#leave()
    return this.#end
  }

  #leave(): void {
    this.#closed = true
    this.#waiting.clear()
    this.#meanwhile.clear()
    clearTimeout(this.#retry)
    this.#stop()
    this.#options.onClosed?.()
  }

  #hear(frames: readonly StoredFrame[], upTo: number): void {
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

  /** Reads what comes next, unless something waits still or it is being read. */
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
    // Also when nothing was there: a subscriber who waits for the end takes it now.
    if (!this.#closed) wake()
  }

  #takePage({ frames, upTo, whole, missedUpTo }: FramePage): void {
    this.#waiting.clear()
    const gap = missedUpTo === null ? [] : [{ id: missedUpTo, json: MISSED }]
    this.#waiting.addAnyhow([...gap, ...frames])
    this.#position = upTo
    const { isOverfull } = this.#meanwhile
    this.#isBehind = !whole || isOverfull
    if (this.#isBehind) return
    const { frames: later, upTo: toldUpTo } = this.#meanwhile
    this.#meanwhile.clear()
    this.#queue(later, toldUpTo)
  }
}

function parsed<F extends object>(stored: StoredFrame): Placed<F | FramesMissed> {
  const known = PARSED.get(stored)
  if (known !== undefined) return known as Placed<F>
  const frame = { ...(JSON.parse(stored.json) as F), eventId: stored.id }
  PARSED.set(stored, frame)
  return frame
}

/** Frames that wait, as many as may. */
class BoundedFrames {
  #frames: StoredFrame[] = []
  #size = 0
  #upTo = 0
  #isOverfull = false

  get frames(): readonly StoredFrame[] {
    return this.#frames
  }

  /** No frame up to this id is left out. */
  get upTo(): number {
    return this.#upTo
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  /** Whether frames were left out since there were none. */
  get isOverfull(): boolean {
    return this.#isOverfull
  }

  shift(): StoredFrame | undefined {
    const frame = this.#frames.shift()
    if (frame !== undefined) this.#size -= frame.json.length
    return frame
  }

  /** Adds what there is room for; answers up to which id nothing is left out. */
  add(frames: readonly StoredFrame[], upTo: number): number {
    for (const frame of frames) {
      if (this.#isOverfull) return this.#upTo
      const { length } = frame.json
      const isFull =
        this.#frames.length >= QUEUE_LIMIT || (this.#size > 0 && this.#size + length > QUEUE_BYTES)
      if (isFull) this.#isOverfull = true
      else this.addAnyhow([frame])
    }
    if (!this.#isOverfull) this.#upTo = upTo
    return this.#upTo
  }

  addAnyhow(frames: readonly StoredFrame[]): void {
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
