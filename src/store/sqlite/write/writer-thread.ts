import { parentPort, receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import type { Upsert } from '../../sheet-store.ts'
import { failedResponse, type ThreadResponse } from '../database/thread-client.ts'
import type { WriterMessage, WriterRequest } from './writer-protocol.ts'
import { Writer } from './writer.ts'

/** Bytes of a body from which an upsert has a transaction of its own, see {@link Writer.change}. */
const LARGE_BODY = 64 << 10

/** Lines of the log after which their number is reported. */
const LINES_NOTED = 500

/** The most requests that share a commit, so that the first of many does not wait long for the last. */
const GROUP_LIMIT = 256

/**
 * The writing thread of a store: takes requests from its port, and carries out those that wait together in one transaction.
 */
class WriterThread {
  readonly #port: MessagePort
  readonly #writer: Writer
  readonly #queue: WriterRequest[] = []
  #working = false
  /** Lines that were written since they were last reported. */
  #lines = 0

  constructor(port: MessagePort) {
    this.#port = port
    this.#writer = new Writer(
      (setAside) => port.postMessage({ setAside } satisfies WriterMessage),
      (count) => this.#noteLines(count),
      (takenOver) => port.postMessage({ takenOver } satisfies WriterMessage),
    )
    port.on('message', (request: WriterRequest) => {
      this.#queue.push(request)
      if (!this.#working) void this.#work()
    })
  }

  #noteLines(count: number): void {
    this.#lines += count
    if (this.#lines < LINES_NOTED) return
    this.#port.postMessage({ lines: this.#lines } satisfies WriterMessage)
    this.#lines = 0
  }

  async #work(): Promise<void> {
    this.#working = true
    for (this.#receive(); this.#queue.length > 0; this.#receive()) {
      const first = this.#queue[0] as WriterRequest
      if (this.#writer.isChange(first.operation)) {
        await this.#change(this.#takeChanges())
      } else {
        this.#queue.shift()
        this.#port.postMessage([await this.#respond(first)])
      }
    }
    this.#working = false
  }

  /** Takes the waiting messages of the port without returning to the event loop. */
  #receive(): void {
    while (this.#queue.length < GROUP_LIMIT) {
      const received = receiveMessageOnPort(this.#port)
      if (received === undefined) return
      this.#queue.push(received.message as WriterRequest)
    }
  }

  #takeChanges(): WriterRequest[] {
    const end = this.#queue.findIndex(
      (request, index) => !this.#writer.isChange(request.operation) || (index > 0 && isLarge(request)),
    )
    const first = this.#queue[0]
    const group = first !== undefined && isLarge(first) ? 1 : end === -1 ? this.#queue.length : end
    return this.#queue.splice(0, Math.min(group, GROUP_LIMIT))
  }

  async #change(requests: readonly WriterRequest[]): Promise<void> {
    try {
      const outcomes = await this.#writer.change(requests)
      this.#port.postMessage(
        outcomes.map((outcome, index): ThreadResponse => {
          const id = requests[index]?.id ?? 0
          return 'error' in outcome
            ? failedResponse(id, outcome.error)
            : { id, outcome: { kind: 'done', value: outcome.value } }
        }),
      )
    } catch (error) {
      this.#port.postMessage(requests.map(({ id }) => failedResponse(id, error)))
    }
  }

  async #respond({ id, operation, argument }: WriterRequest): Promise<ThreadResponse> {
    try {
      return { id, outcome: { kind: 'done', value: await this.#writer.handle(operation, argument) } }
    } catch (error) {
      return failedResponse(id, error)
    }
  }
}

function isLarge({ operation, argument }: WriterRequest): boolean {
  if (operation !== 'upsert') return false
  const { body } = argument as Upsert
  return (typeof body === 'string' || body instanceof Uint8Array) && body.length >= LARGE_BODY
}

if (parentPort !== null) new WriterThread(parentPort)
