import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Fewest bytes of a body that must arrive in each window of time, and how long a window is. */
export interface BodyPace {
  readonly bytes: number
  readonly windowMs: number
}

/** As much of a request as matters. */
export type Watched = Pick<IncomingMessage, 'headers' | 'complete' | 'socket'>

interface Arriving {
  readonly socket: Socket
  since: number
  bytesBefore: number
}

/**
 * Finds requests whose bodies arrive slower than a pace. Node's own limit on the whole request must be long enough
 * for the largest body over a slow link, so that alone a stalled body would hold its connection, and what has come of
 * it, for minutes.
 */
export class SlowBodies {
  readonly #pace: BodyPace
  readonly #arriving = new Map<Watched, Arriving>()

  constructor(pace: BodyPace) {
    this.#pace = pace
  }

  /** Starts looking at a request whose headers are there. */
  watch(request: Watched, now = performance.now()): void {
    const { headers, socket } = request
    if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return
    this.#arriving.set(request, { socket, since: now, bytesBefore: socket.bytesRead })
  }

  /** The connections of the bodies that fell behind; each is told once. To be called several times in a window. */
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
