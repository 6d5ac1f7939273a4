import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import type { FramedRequest } from './fuzz-requests.ts'
import { AnswerParser, checkAnswer } from './strict-answers.ts'

/** Milliseconds without a byte after which the server counts as hanging. */
const HANG_MS = 30_000

/**
 * Milliseconds without a byte after raw bytes, which may be the start of a request, before the client checks that the server has read them.
 */
const QUIET_MS = 100

/** Counts the statuses of responses. */
export class Tally {
  readonly #counts = new Map<number, number>()

  add(status: number): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1)
  }

  get answers(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  toString(): string {
    const sorted = [...this.#counts].toSorted(([a], [b]) => a - b)
    return sorted.map(([status, count]) => `${status}: ${count}`).join(', ')
  }
}

/** A persistent connection: sends several requests at a time, and checks every response with `checkAnswer`. */
export class KeptConnection {
  readonly #socket: Socket
  readonly #tally: Tally
  readonly #parser = new AnswerParser()
  #ended = false
  #wake: () => void = () => undefined

  constructor(port: number, tally: Tally) {
    this.#tally = tally
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setTimeout(HANG_MS, () => this.#socket.destroy(new Error('hang')))
    this.#socket.on('data', (bytes) => {
      this.#parser.push(bytes)
      this.#wake()
    })
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => {
      this.#ended = true
      this.#wake()
    })
  }

  /** Sends these requests and waits for all responses. Throws AssertionError with the failing request. */
  async exchange(requests: readonly FramedRequest[]): Promise<void> {
    this.#socket.write(Buffer.concat(requests.map(({ bytes }) => bytes)))
    for (const request of requests) {
      try {
        const answer = await this.#answer(request.method)
        checkAnswer(answer, request.method)
        this.#tally.add(answer.status)
      } catch (error) {
        throw atFault(error, request.bytes)
      }
    }
    assert.equal(this.#parser.rest, 0, 'more than was asked for')
  }

  close(): void {
    this.#socket.destroy()
  }

  async #answer(method: string): Promise<Exclude<ReturnType<AnswerParser['next']>, undefined | string>> {
    for (;;) {
      const answer = this.#parser.next(method)
      assert.notEqual(answer, 'stream')
      if (typeof answer === 'object') return answer
      assert.ok(!this.#ended, 'the connection ended without an answer')
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }
}

/** The end of any request that raw bytes began, and a last request. */
const LAST = Buffer.from('\r\n\r\nGET /api/csrf HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')

const PROBE = Buffer.from('GET /api/csrf HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')

/** Resolves when a connection has ended, also by a reset, for which `once` of Node rejects. */
async function closed(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.once('close', () => resolve())
  await promise
}

/** Resolves when a request that is sent now has its response: the server has then read everything before it. */
async function caughtUp(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(PROBE)
  await closed(socket)
}

/**
 * Sends bytes that need not be HTTP on a new connection. Every response must pass `checkAnswer`, and the connection must end. Throws
 * AssertionError with the bytes.
 */
export async function sendRaw(port: number, bytes: Buffer, tally: Tally): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const parser = new AnswerParser()
  let failure: unknown = null
  let came = 0
  const quiet = setTimeout(() => void hangUp(), QUIET_MS)
  const hangUp = async (): Promise<void> => {
    const before = came
    await caughtUp(port)
    // A response meanwhile restarts the timeout.
    if (came === before) socket.end()
  }
  const hanging = setTimeout(() => {
    failure = new Error('the connection neither answers nor ends')
    socket.destroy()
  }, HANG_MS)
  socket.on('error', () => undefined)
  socket.on('data', (data) => {
    quiet.refresh()
    came += 1
    parser.push(data)
    try {
      for (let answer = parser.next('GET'); answer !== undefined; answer = parser.next('GET')) {
        if (answer === 'stream') {
          socket.end()
          break
        }
        checkAnswer(answer, 'GET')
        tally.add(answer.status)
      }
    } catch (error) {
      failure = error
      socket.destroy()
    }
  })
  socket.write(Buffer.concat([bytes, LAST]))
  await closed(socket)
  clearTimeout(quiet)
  clearTimeout(hanging)
  if (failure !== null) throw atFault(failure, bytes)
}

function atFault(error: unknown, bytes: Buffer): Error {
  const shown = JSON.stringify(bytes.toString('latin1').slice(0, 3000))
  return new Error(`${error instanceof Error ? error.message : String(error)}\nafter ${shown}`, {
    cause: error,
  })
}
