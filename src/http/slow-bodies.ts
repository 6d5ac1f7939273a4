import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Fewest bytes of a body that must arrive in each window of time, and how long a window is. */
export interface BodyPace {
  readonly bytes: number
  readonly windowMs: number
}

/** The members of a request that are watched. */
export type Watched = Pick<IncomingMessage, 'headers' | 'complete' | 'socket'>

interface Arriving {
  readonly socket: Socket
  since: number
  bytesBefore: number
}

/**
 * Finds requests whose bodies arrive slower than a pace. Node's own limit on the whole request must allow the largest body over a slow
 * link. With that limit alone, a stalled body would hold its connection and the bytes received for minutes.
 */
export class SlowBodies {
  readonly #pace: BodyPace
  readonly #arriving = new Map<Watched, Arriving>()

  constructor(pace: BodyPace) {
    this.#pace = pace
  }

  /** Starts watching a request whose headers have arrived. */
  watch(request: Watched, now = performance.now()): void {
    const { headers, socket } = request
    if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return
    this.#arriving.set(request, { socket, since: now, bytesBefore: socket.bytesRead })
  }

  /** Returns the connections whose bodies fell behind, each once. Call it several times in each window. */
  findStalled(now = performance.now()): Socket[] {
    const stalled: Socket[] = []
    for (const [request, body] of this.#arriving) {
      const { socket } = body
      if (request.complete || socket.destroyed) {
        this.#arriving.delete(request)
      } else if (now - body.since >= this.#pace.windowMs) {
        if (socket.bytesRead - body.bytesBefore < this.#pace.bytes) {
          this.#arriving.delete(request)
          stalled.push(socket)
        }
        body.since = now
        body.bytesBefore = socket.bytesRead
      }
    }
    return stalled
  }
}
