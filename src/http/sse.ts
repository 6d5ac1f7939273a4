import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Subscription } from '../events/event-bus.ts'
import { CONNECTED_COMMENT, KEEPALIVE_COMMENT } from '../wire/frames.ts'

/** What a stream tells. */
export interface EventSource<F> {
  /** Frames that every subscriber gets first. */
  readonly first?: readonly F[]
  /** See `EventBus.subscribe`; the stream ends when the subscription does. */
  subscribe(wake: () => void): Subscription<F>
  /** A frame as the stream carries it. */
  render(frame: F): string
}

/** How long a client has to take the end of a stream. */
const LAST_WORDS_MS = 30_000

/** The open event streams of an app, so that closing the app can end them. */
export class EventStreams {
  readonly #keepAliveMs: number
  readonly #open = new Set<{ close(): void }>()
  #closed = false

  constructor(keepAliveMs: number) {
    this.#keepAliveMs = keepAliveMs
  }

  /**
   * Sends a subscriber the greeting, then every frame published from now on, and a comment every `keepAliveMs`
   * (specification, "Framing"). While the client does not read, nothing is written: its frames wait in the bounded
   * queue of its subscription, which drops the oldest, so it costs neither memory nor anybody else's time.
   */
  open<F>(response: ServerResponse, headers: OutgoingHttpHeaders, source: EventSource<F>): void {
    let stalled = false
    const write = (text: string): void => {
      // What `write` answers false to has been accepted all the same; it only asks to wait.
      if (!response.write(text)) stalled = true
    }
    let cutOff: NodeJS.Timeout | undefined
    const pump = (): void => {
      // Of a source that has ended the rest is handed over at once: it is bounded.
      while (!stalled || (subscription.closed && !this.#closed)) {
        const frame = subscription.take()
        if (frame === undefined) break
        write(source.render(frame))
      }
      if (!subscription.closed || response.writableEnded) return
      response.end()
      cutOff = setTimeout(() => response.destroy(), LAST_WORDS_MS).unref()
    }
    const subscription = source.subscribe(pump)
    const keepAlive = setInterval(() => {
      if (!stalled) write(KEEPALIVE_COMMENT)
    }, this.#keepAliveMs)
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
    for (const frame of source.first ?? []) write(source.render(frame))
    if (this.#closed) stream.close()
  }

  /** Ends every stream: what waits is sent, stalled clients are cut off. */
  close(): void {
    this.#closed = true
    for (const stream of this.#open) stream.close()
  }
}

/** The headers of an event stream, beside those that the answer has already. */
export const STREAM_HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // The connection serves nothing else afterwards; and proxies shall not collect frames.
  connection: 'close',
  'x-accel-buffering': 'no',
}
