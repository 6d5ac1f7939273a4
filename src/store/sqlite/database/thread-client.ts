import { Worker, type Transferable } from 'node:worker_threads'
import {
  fromPlainError,
  RecordsError,
  StoppingError,
  toPlainError,
  type PlainServiceError,
} from '../../../errors/service-error.ts'
import { asRecordsError } from './connection.ts'
import { keepSpare, takeSpare } from './spare-threads.ts'

/** Bytes from which buffers are transferred and not copied. */
export const TRANSFER_BYTES: number = 1 << 16

/** A request to a thread of a store. */
export interface ThreadRequest<Operation extends string = string> {
  readonly id: number
  readonly operation: Operation
  readonly argument: unknown
}

export interface ThreadResponse {
  readonly id: number
  readonly outcome:
    | { readonly kind: 'done'; readonly value: unknown }
    | { readonly kind: 'refused'; readonly error: PlainServiceError }
    /** A bug. */
    | { readonly kind: 'broken'; readonly stack: string }
}

/** Returns the response to a request that failed. */
export function failedResponse(id: number, thrown: unknown): ThreadResponse {
  const error = asRecordsError(thrown)
  const plain = toPlainError(error)
  if (plain !== undefined) return { id, outcome: { kind: 'refused', error: plain } }
  return {
    id,
    outcome: {
      kind: 'broken',
      stack: error instanceof Error ? (error.stack ?? error.message) : String(error),
    },
  }
}

/**
 * Returns the buffer of large bytes that own it, which can be transferred to a thread instead of copied; otherwise nothing.
 */
export function transferable(bytes: unknown): readonly Transferable[] {
  if (!(bytes instanceof Uint8Array) || bytes.byteLength < TRANSFER_BYTES) return []
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength ? [buffer] : []
}

export interface ThreadOptions {
  /** For error messages. */
  readonly name: string
  /** The module that the thread runs. */
  readonly module: URL
  readonly workerData?: unknown
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** The operations of a thread, each with one argument. */
type OperationsOf<Operations> = { [Name in keyof Operations]: (argument: never) => unknown }

/** A thread of a store, as the other threads use it. Before the first request, it does not keep the process alive. */
export class ThreadClient<Operations extends OperationsOf<Operations>> {
  readonly #worker: Worker
  readonly #module: URL
  readonly #listeners: readonly (readonly [event: string, listener: (value: unknown) => void])[]
  readonly #waiting = new Map<number, Waiting>()
  readonly #begun = Promise.withResolvers<void>()
  #lastId = 0
  #closing = false
  #ended: Error | null = null

  constructor({ name, module, workerData }: ThreadOptions) {
    this.#module = module
    this.#worker = takeSpare(module) ?? new Worker(module, { workerData })
    this.#listeners = [
      ['message', (message) => this.receive(message)],
      ['error', (error) => this.#end(error instanceof Error ? error : new Error(String(error)))],
      [
        'exit',
        () =>
          this.#end(
            this.#closing ? closed() : new RecordsError(`the ${name} thread has ended: restart the service`),
          ),
      ],
    ]
    for (const [event, listener] of this.#listeners) this.#worker.on(event, listener)
    this.#worker.unref()
  }

  /** Resolves when the thread has its first request. */
  get begun(): Promise<void> {
    return this.#begun.promise
  }

  get hasEnded(): boolean {
    return this.#ended !== null
  }

  /** Carries out an operation on the thread. Rejects with its ServiceError, or a plain Error for a bug. */
  call<Name extends keyof Operations & string>(
    operation: Name,
    argument: Parameters<Operations[Name]>[0],
    transfer: readonly Transferable[] = [],
  ): Promise<ReturnType<Operations[Name]>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) {
        reject(this.#ended)
        return
      }
      if (this.#lastId === 0) this.#worker.ref()
      const id = (this.#lastId += 1)
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ id, operation, argument } satisfies ThreadRequest, transfer)
      this.#begun.resolve()
    })
  }

  /** Ends the thread; pending requests fail with a StoppingError. */
  async close(): Promise<void> {
    this.#closing = true
    await this.#worker.terminate()
  }

  /** Leaves the thread, which has nothing open any more, to the next client of its module. */
  protected leave(): void {
    this.#closing = true
    for (const [event, listener] of this.#listeners) this.#worker.off(event, listener)
    this.#end(closed())
    keepSpare(this.#module, this.#worker)
  }

  /** Handles a message of the thread: responses. */
  protected receive(message: unknown): void {
    for (const response of message as readonly ThreadResponse[]) this.#settle(response)
  }

  #settle({ id, outcome }: ThreadResponse): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    switch (outcome.kind) {
      case 'done':
        return waiting?.resolve(outcome.value)
      case 'refused':
        return waiting?.reject(fromPlainError(outcome.error))
      case 'broken': {
        const error = new Error('an internal error in a thread of the store')
        error.stack = outcome.stack
        return waiting?.reject(error)
      }
    }
  }

  #end(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#waiting.values()) reject(this.#ended)
    this.#waiting.clear()
  }
}

function closed(): StoppingError {
  return new StoppingError('the store is closed')
}
