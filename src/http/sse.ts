import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { EventBus, Subscription } from '../events/event-bus.ts'
import { CONNECTED_COMMENT, KEEPALIVE_COMMENT, renderFrame } from '../wire/frames.ts'

/** The open event streams of an app, so that closing the app can end them. */
export class EventStreams {
  readonly #events: EventBus
  readonly #keepAliveMs: number
  readonly #open = new Set<Subscription>()
  #closed = false

  constructor(events: EventBus, keepAliveMs: number) {
    this.#events = events
    this.#keepAliveMs = keepAliveMs
  }

  /**
   * Sends a subscriber the greeting, then every frame published from now on, and a comment every `keepAliveMs`
   * (specification, "Framing"). While the client does not read, nothing is written: its frames wait in the bounded
   * queue of its subscription, which drops the oldest, so it costs neither memory nor anybody else's time.
   */
  open(response: ServerResponse, headers: OutgoingHttpHeaders): void {
    let stalled = false
    const write = (text: string): void => {
      // What `write` answers false to has been accepted all the same; it only asks to wait.
      if (!response.write(text)) stalled = true
    }
    const pump = (): void => {
      while (!stalled) {
        const frame = subscription.take()
        if (frame === undefined) break
        write(renderFrame(frame))
      }
      if (!subscription.closed) return
      if (stalled) response.destroy()
      else response.end()
    }
    const subscription = this.#events.subscribe(pump)
    const keepAlive = setInterval(() => {
      if (!stalled) write(KEEPALIVE_COMMENT)
    }, this.#keepAliveMs)
    response.on('drain', () => {
      stalled = false
      pump()
    })
    response.on('close', () => {
      clearInterval(keepAlive)
      this.#open.delete(subscription)
      subscription.close()
    })
    this.#open.add(subscription)
    response.writeHead(200, headers)
    write(CONNECTED_COMMENT)
    if (this.#closed) subscription.close()
  }

  /** Ends every stream: what waits is sent, stalled clients are cut off. */
  close(): void {
    this.#closed = true
    for (const subscription of this.#open) subscription.close()
  }
}
