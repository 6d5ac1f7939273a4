import type { FrameListener, FramePage, SharedFrames, StoredFrame } from '../../shared-frames.ts'
import type { Connection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { FramePublisher } from './frame-publisher.ts'
import { frameChannel, lastFrame, readFrames, type KeptFrames, type StreamsPage } from './frame-table.ts'
import { Notifications } from '../database/notifications.ts'

/** Who was away for longer than this, or while more was told, reads the sheet anew. */
const KEPT: KeptFrames = { frames: 10_000, bytes: 64 * 1024 * 1024, milliseconds: 3_600_000 }

/** How long the end of a process waits for its last frames to be told. */
const SETTLE_MS = 1000

interface Arrival {
  readonly id: number
  resolve(): void
}

/**
 * The frames of a sheet, for all servers that have it open. Each listens to notifications and reads the frames of the streams
 * that somebody listens to here, once for all listeners. Notifications that come together are one read; a connection that was
 * lost is made again, and the first thing done with it is to read what has come meanwhile.
 */
export class FrameFeed implements SharedFrames {
  readonly #database: Database
  readonly #publisher: FramePublisher
  readonly #notifications: Notifications
  readonly #listeners = new Map<string, Set<FrameListener>>()
  readonly #arrivals = new Set<Arrival>()
  /** Listeners have been told all up to this id, or that they were not; null before the first look. */
  #position: number | null = null
  #closed = false

  constructor(database: Database, kept: KeptFrames = KEPT) {
    this.#database = database
    this.#publisher = new FramePublisher(database, kept)
    this.#notifications = new Notifications({
      database,
      channel: frameChannel(database.location.schema),
      onNews: (db) => this.#catchUp(db),
    })
  }

  publish(stream: string, frames: readonly string[]): void {
    this.#publisher.publish(stream, frames)
  }

  async settled(): Promise<void> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>()
    const timer = setTimeout(giveUp, SETTLE_MS)
    await Promise.race([this.#settle(), late])
    clearTimeout(timer)
  }

  last(): Promise<number> {
    return lastFrame(this.#database)
  }

  read(stream: string, after: number): Promise<FramePage> {
    return readFrames(this.#database, [stream], after)
  }

  listen(stream: string, listener: FrameListener): () => void {
    if (this.#closed) {
      queueMicrotask(() => listener.onClose())
      return () => undefined
    }
    this.#notifications.start()
    const listeners = this.#listeners.get(stream) ?? new Set()
    this.#listeners.set(stream, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(stream) === listeners) this.#listeners.delete(stream)
    }
  }

  /** Stores what was published, ends what listeners are told, and lets go of the connection. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#publisher.close()
    for (const listener of this.#allListeners()) listener.onClose()
    this.#listeners.clear()
    this.#arrive(Infinity)
    await this.#notifications.close()
  }

  async #settle(): Promise<void> {
    await this.#publisher.idle()
    await this.#told(this.#publisher.last)
    await Promise.all(this.#allListeners().map((listener) => listener.settled()))
  }

  #allListeners(): FrameListener[] {
    return [...this.#listeners.values()].flatMap((listeners) => [...listeners])
  }

  /** Resolves when listeners here have been told of all up to this id; at once when nobody listens. */
  async #told(id: number): Promise<void> {
    if (this.#listeners.size === 0 || (this.#position ?? 0) >= id) return
    await new Promise<void>((resolve) => this.#arrivals.add({ id, resolve }))
  }

  #arrive(position: number): void {
    for (const arrival of this.#arrivals) {
      if (arrival.id > position) continue
      this.#arrivals.delete(arrival)
      arrival.resolve()
    }
  }

  /** Reads what has come since it was last called, and tells it. */
  async #catchUp(db: Connection): Promise<void> {
    for (let whole = false; !whole && !this.#closed;) {
      const streams = [...this.#listeners.keys()]
      const page: StreamsPage =
        this.#position === null ? await firstPage(db) : await readFrames(db, streams, this.#position)
      this.#tell(new Set(streams), page)
      this.#position = page.upTo
      this.#arrive(page.upTo)
      whole = page.whole
    }
  }

  #tell(read: ReadonlySet<string>, { frames, upTo, missedUpTo }: StreamsPage): void {
    const ofStream = Map.groupBy<string, StoredFrame & { readonly stream: string }>(
      frames,
      ({ stream }) => stream,
    )
    for (const [stream, listeners] of this.#listeners) {
      for (const listener of listeners) {
        // Who has begun to listen during the read, or has lost something, reads for itself.
        if (missedUpTo !== null || !read.has(stream)) listener.onGap()
        else listener.onFrames(ofStream.get(stream) ?? [], upTo)
      }
    }
  }
}

/** Where a process begins that has told nobody anything: whoever listens already reads for itself. */
async function firstPage(db: Connection): Promise<StreamsPage> {
  const last = await lastFrame(db)
  return { frames: [], upTo: last, whole: true, missedUpTo: last }
}
