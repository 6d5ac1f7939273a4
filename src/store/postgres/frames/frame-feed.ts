import type { FrameListener, FramePage, SharedFrames, StoredFrame } from '../../shared-frames.ts'
import type { Connection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { FramePublisher } from './frame-publisher.ts'
import { frameChannel, lastFrame, readFrames, type KeptFrames, type StreamsPage } from './frame-table.ts'
import { Notifications } from '../database/notifications.ts'

/** The frames that are kept. A listener that was disconnected for longer, or missed more, reads the sheet again. */
const KEPT: KeptFrames = { frames: 10_000, bytes: 64 * 1024 * 1024, milliseconds: 3_600_000 }

/** Milliseconds that closing waits for its last frames to be delivered. */
const SETTLE_MS = 1000

interface Arrival {
  readonly id: number
  resolve(): void
}

/**
 * Delivers the frames of a sheet from all servers that have it open. Each server listens for notifications and reads the
 * frames of the streams that have listeners here, once for all of them. Notifications that arrive together cause one read.
 * After a lost connection is replaced, the frames published meanwhile are read first.
 */
export class FrameFeed implements SharedFrames {
  readonly #database: Database
  readonly #publisher: FramePublisher
  readonly #notifications: Notifications
  readonly #listeners = new Map<string, Set<FrameListener>>()
  readonly #arrivals = new Set<Arrival>()
  /** The id up to which listeners have received all frames, or were notified of a gap; null before the first read. */
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

  /** Stores the published frames, stops delivery, and closes the connection. */
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
    await this.#delivered(this.#publisher.last)
    await Promise.all(this.#allListeners().map((listener) => listener.settled()))
  }

  #allListeners(): FrameListener[] {
    return [...this.#listeners.values()].flatMap((listeners) => [...listeners])
  }

  /** Resolves when listeners here have received all frames up to this id; at once when there are none. */
  async #delivered(id: number): Promise<void> {
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

  /** Reads the frames published since the last call, and delivers them. */
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
        // A listener that was added during the read, or has missed frames, reads for itself.
        if (missedUpTo !== null || !read.has(stream)) listener.onGap()
        else listener.onFrames(ofStream.get(stream) ?? [], upTo)
      }
    }
  }
}

/** Returns the page from which a new process begins: its listeners have already read the current state. */
async function firstPage(db: Connection): Promise<StreamsPage> {
  const last = await lastFrame(db)
  return { frames: [], upTo: last, whole: true, missedUpTo: last }
}
