import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FrameQueue, SizeOf } from '../../events/event-bus.ts'
import { CONNECTED_COMMENT, eventId, KEEPALIVE_COMMENT } from '../../wire/runs/materialize-frames.ts'

/** The frames of a stream. */
export interface EventSource<F extends object> {
  /** Frames that every subscriber gets first. */
  readonly first?: readonly F[]
  /** The id of the last frame before those that follow, where frames have ids. */
  readonly position?: number | null
  /** See `EventBus.subscribe`; the stream ends when the subscription does. */
  subscribe(wake: () => void, sizeOf: SizeOf<F>): FrameQueue<F>
  /** Renders a frame; every source of the same frame must render it equally. */
  render(frame: F): string
}

/** Times of event streams, in milliseconds. */
export interface StreamTimes {
  /** Between keepalive comments. */
  readonly keepAliveMs: number
  /** Time for which a client may read nothing while frames wait for it. */
  readonly stalledMs: number
}

/** Default of {@link StreamTimes.stalledMs}. */
export const STALLED_MS = 60_000

/** Time in which a client has to read the end of a stream. */
const LAST_WORDS_MS = 30_000

/** The open event streams of an app, so that closing the app can end them. */
export class EventStreams {
  readonly #times: StreamTimes
  readonly #open = new Set<{ close(): void }>()
  /** Frames as bytes for as long as they are referenced, so that a thousand subscribers share one copy. */
  readonly #rendered = new WeakMap<object, Buffer>()
  #closed = false

  constructor(times: StreamTimes) {
    this.#times = times
  }

  /**
   * Sends a subscriber the greeting, then every frame published from now on, and a comment every `keepAliveMs` (`docs/reference/events.md`).
   * While the client does not read, nothing is written: its frames wait in the bounded queue of its subscription, which drops the oldest,
   * so a slow client costs no memory and delays nobody. If it reads nothing for `stalledMs`, its connection is closed. To `HEAD` it sends
   * the headers, without a subscription.
   */
  open<F extends object>(
    response: ServerResponse,
    headers: OutgoingHttpHeaders,
    source: EventSource<F>,
  ): void {
    if (response.req.method === 'HEAD') {
      // The connection cannot serve further requests after a stream.
      const { connection: _connection, ...others } = headers
      response.writeHead(200, others).end()
      return
    }
    let stalled = false
    const write = (bytes: string | Buffer): void => {
      // `write` accepts the bytes even if it returns false, which only asks to wait.
      if (!response.write(bytes)) stalled = true
    }
    const rendered = (frame: F): Buffer => this.#render(frame, source)
    let cutOff: NodeJS.Timeout | undefined
    const pump = (): void => {
      // Once a source has ended, the rest is written at once: it is bounded.
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
      // Waiting frames show that the stream is alive, and comments must not pile up behind them.
      if (response.writableLength === 0) write(KEEPALIVE_COMMENT)
    }, this.#times.keepAliveMs)
    // A stream without frames is not stalled. Node counts it as progress when the system accepts part of a large frame, so that a slow
    // client is not taken for a stalled one.
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
    // So that a client that reconnects before it received a frame misses nothing either.
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

  /** Ends every stream: waiting frames are sent, stalled clients are disconnected. */
  close(): void {
    this.#closed = true
    for (const stream of this.#open) stream.close()
  }
}

/**
 * Returns the id of the last frame that a reconnecting client received; null if it sends none. A malformed id counts as none: it would be
 * that of another server.
 */
export function lastEventId({ headers }: Pick<IncomingMessage, 'headers'>): number | null {
  const given = headers['last-event-id']
  return typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : null
}

/** The headers of an event stream, besides those already set on the response. */
export const STREAM_HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // The connection serves nothing else afterwards; and proxies must not buffer frames.
  connection: 'close',
  'x-accel-buffering': 'no',
}
