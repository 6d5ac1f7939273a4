import type { Frame } from './frame.ts'

/** Most frames that can wait for one subscriber (`docs/reference/events.md`). */
export const QUEUE_LIMIT = 64

/** Most bytes of the frames that wait for one subscriber: 128 KiB for each of {@link QUEUE_LIMIT}. */
export const QUEUE_BYTES = 8 * 1024 * 1024

/** Returns the bytes that a waiting frame takes. It must not throw, and must return the same each time. */
export type SizeOf<F> = (frame: F) => number

/** The frames that wait for one subscriber. */
export interface FrameQueue<F> {
  /** True once no further frame can arrive; waiting frames can still be taken. */
  readonly closed: boolean
  /** Removes and returns the oldest waiting frame, or undefined if none waits. */
  take(): F | undefined
  /** Ends the subscription: nothing is queued any more. May be called more than once. */
  close(): void
}

/**
 * One subscriber's queue of frames, bounded in number and in bytes. When it is full, the oldest frames are dropped for the newest, so a
 * subscriber that stalls loses only its own frames. The newest frame is always queued: the queue has at most {@link QUEUE_BYTES}, or one
 * frame that is larger than that.
 */
export class Subscription<F = Frame> implements FrameQueue<F> {
  readonly #queue: F[] = []
  readonly #wake: () => void
  readonly #sizeOf: SizeOf<F>
  readonly #leave: (subscription: Subscription<F>) => void
  #bytes = 0
  #closed = false

  /** Called by {@link EventBus.subscribe} only. */
  constructor(wake: () => void, sizeOf: SizeOf<F>, leave: (subscription: Subscription<F>) => void) {
    this.#wake = wake
    this.#sizeOf = sizeOf
    this.#leave = leave
  }

  get closed(): boolean {
    return this.#closed
  }

  take(): F | undefined {
    const frame = this.#queue.shift()
    if (frame !== undefined) this.#bytes -= this.#sizeOf(frame)
    return frame
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#leave(this)
    this.#wake()
  }

  /** Queues a frame and wakes the subscriber. Called by the bus. */
  offer(frame: F): void {
    const bytes = this.#sizeOf(frame)
    while (
      this.#queue.length >= QUEUE_LIMIT ||
      (this.#queue.length > 0 && this.#bytes + bytes > QUEUE_BYTES)
    ) {
      this.take()
    }
    this.#queue.push(frame)
    this.#bytes += bytes
    this.#wake()
  }
}

/**
 * Passes every published frame to every subscriber of this process (`docs/reference/events.md`). Publishing only adds the frame to queues: it
 * neither waits nor throws.
 */
export class EventBus<F = Frame> {
  readonly #subscriptions = new Set<Subscription<F>>()
  #closed = false

  /** Queues the frame for every subscriber, in the order of publishing. After `close` it does nothing. */
  publish(frame: F): void {
    if (this.#closed) return
    for (const subscription of this.#subscriptions) subscription.offer(frame)
  }

  /**
   * Starts a subscription to every frame published from now on. `wake` is called, perhaps often, after a frame was queued and after the
   * subscription has ended, but never before this method has returned; it must not throw. Without `sizeOf` the queue is bounded in frames
   * alone.
   */
  subscribe(wake: () => void, sizeOf: SizeOf<F> = () => 0): Subscription<F> {
    const subscription = new Subscription<F>(wake, sizeOf, (ended) => this.#subscriptions.delete(ended))
    if (this.#closed) queueMicrotask(() => subscription.close())
    else this.#subscriptions.add(subscription)
    return subscription
  }

  /** The number of subscriptions. */
  get size(): number {
    return this.#subscriptions.size
  }

  /** Ends every subscription; later ones end at once. */
  close(): void {
    this.#closed = true
    for (const subscription of this.#subscriptions) subscription.close()
  }
}
