import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FrameQueue, SizeOf } from '../../events/event-bus.ts'
import { CONNECTED_COMMENT, eventId, KEEPALIVE_COMMENT } from '../../wire/runs/materialize-frames.ts'

/** What a stream tells. */
export interface EventSource<F extends object> {
  /** Frames that every subscriber gets first. */
  readonly first?: readonly F[]
  /** The id of the last frame before those that come, where frames have ids. */
  readonly position?: number | null
  /** See `EventBus.subscribe`; the stream ends when the subscription does. */
  subscribe(wake: () => void, sizeOf: SizeOf<F>): FrameQueue<F>
  /** A frame as the stream carries it; every source of the same frame must say the same. */
  render(frame: F): string
}

/** Times of event streams, in milliseconds. */
export interface StreamTimes {
  /** Between keepalive comments. */
  readonly keepAliveMs: number
  /** How long a client may take nothing while something waits for it. */
  readonly stalledMs: number
}

/** How long a client may take nothing of what waits for it, unless an app is told otherwise; see {@link StreamTimes}. */
export const STALLED_MS = 60_000

/** How long a client has to take the end of a stream. */
const LAST_WORDS_MS = 30_000

/** The open event streams of an app, so that closing the app can end them. */
export class EventStreams {
  readonly #times: StreamTimes
  readonly #open = new Set<{ close(): void }>()
  /** Frames as bytes for as long as anybody wants them, so that a thousand subscribers share one copy. */
  readonly #rendered = new WeakMap<object, Buffer>()
  #closed = false

  constructor(times: StreamTimes) {
    this.#times = times
  }

  /**
   * Sends a subscriber the greeting, then every frame published from now on, and a comment every `keepAliveMs`
   * (specification, "Framing"). While the client does not read, nothing is written: its frames wait in the bounded
   * queue of its subscription, which drops the oldest, so it costs neither memory nor anybody else's time. When it has
   * taken nothing for `stalledMs`, its connection is closed. To `HEAD` it sends the headers, and nobody subscribes.
   */
  open<F extends object>(
    response: ServerResponse,
    headers: OutgoingHttpHeaders,
    source: EventSource<F>,
  ): void {
    if (response.req.method === 'HEAD') {
      // The connection serves further requests: nothing follows on it.
      const { connection: _connection, ...others } = headers
      response.writeHead(200, others).end()
      return
    }
    let stalled = false
    const write = (bytes: string | Buffer): void => {
      // What `write` answers false to has been accepted all the same; it only asks to wait.
      if (!response.write(bytes)) stalled = true
    }
    const rendered = (frame: F): Buffer => this.#render(frame, source)
    let cutOff: NodeJS.Timeout | undefined
    const pump = (): void => {
      // Of a source that has ended the rest is handed over at once: it is bounded.
      while (!stalled || (subscription.closed && !this.#closed)) {
        const frame = subscription.take()
        if (frame === undefined) break
        write(rendered(frame))
      }
      if (!subscription.closed || response.writableEnded) return
      response.end()
      cutOff = setTimeout(() => response.destroy(), LAST_WORDS_MS).unref()
    }
    const subscription = source.subscribe(pump, (frame) => rendered(frame).length)
    const keepAlive = setInterval(() => {
      // What waits will do as a sign of life, and comments shall not pile up behind it.
      if (response.writableLength === 0) write(KEEPALIVE_COMMENT)
    }, this.#times.keepAliveMs)
    // Silence is no fault where there is nothing to say. Node counts it as progress when the system takes part of a
    // large frame, so that a slow client is not taken for one that has stalled.
    response.setTimeout(this.#times.stalledMs, () => {
      if (response.writableLength > 0) response.destroy()
    })
    response.on('drain', () => {
      stalled = false
      pump()
    })
    response.on('close', () => {
      clearInterval(keepAlive)
      clearTimeout(cutOff)
      this.#open.delete(stream)
      subscription.close()
    })
    const stream = {
      close(): void {
        subscription.close()
        if (stalled) response.destroy()
      },
    }
    this.#open.add(stream)
    response.writeHead(200, headers)
    write(CONNECTED_COMMENT)
    // So that a client that is told nothing before it has to come back misses nothing either.
    if (typeof source.position === 'number') write(eventId(source.position))
    for (const frame of source.first ?? []) write(rendered(frame))
    if (this.#closed) stream.close()
  }

  #render<F extends object>(frame: F, source: EventSource<F>): Buffer {
    const known = this.#rendered.get(frame)
    if (known !== undefined) return known
    const bytes = Buffer.from(source.render(frame))
    this.#rendered.set(frame, bytes)
    return bytes
  }

  /** Ends every stream: what waits is sent, stalled clients are cut off. */
  close(): void {
    this.#closed = true
    for (const stream of this.#open) stream.close()
  }
}

/**
 * The id of the last frame that a client that comes back has had; null when it says none. What cannot be one counts as none,
 * as it would be that of another server.
 */
export function lastEventId({ headers }: Pick<IncomingMessage, 'headers'>): number | null {
  const given = headers['last-event-id']
  return typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : null
}

/** The headers of an event stream, beside those that the answer has already. */
export const STREAM_HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // The connection serves nothing else afterwards; and proxies shall not collect frames.
  connection: 'close',
  'x-accel-buffering': 'no',
}
