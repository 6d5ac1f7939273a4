import { isUtf8 } from 'node:buffer'
import { Worker, type Transferable } from 'node:worker_threads'
import { fromPlainError, RecordsError, StoppingError } from '../../../errors/service-error.ts'
import type { Upsert } from '../../sheet-store.ts'
import type { SetAside } from '../../../provenance/set-aside.ts'
import type {
  WriterAnswer,
  WriterMessage,
  WriterOperation,
  WriterOperations,
  WriterRequest,
} from './writer-protocol.ts'

/** Buffers from this size on are handed over and not copied. */
const TRANSFER_BYTES = 1 << 16

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** The writing thread, as the other threads see it. Until it is first asked for something, it keeps no process going. */
export class WriterClient {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #closing = false
  #ended: Error | null = null
  /** Called when the thread has moved lines that the store does not have out of the log. */
  onSetAside: (lines: SetAside) => void = () => undefined

  constructor() {
    // The same extension as this file's: TypeScript in the repository, JavaScript in the package.
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
    this.#worker = new Worker(new URL(`./writer-thread${extension}`, import.meta.url))
    this.#worker.on('message', (message: WriterMessage) => {
      if ('setAside' in message) this.onSetAside(message.setAside)
      else for (const answer of message) this.#settle(answer)
    })
    this.#worker.on('error', (error) => this.#end(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => {
      this.#end(
        this.#closing
          ? new StoppingError('the store is closed')
          : new RecordsError('the writing thread has ended: restart the service'),
      )
    })
    this.#worker.unref()
  }

  /** Has the thread carry out an operation. Rejects with its ServiceError, or a plain Error for a fault of the program. */
  call<Op extends WriterOperation>(
    operation: Op,
    argument: Parameters<WriterOperations[Op]>[0],
    transfer: readonly Transferable[] = [],
  ): Promise<ReturnType<WriterOperations[Op]>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) {
        reject(this.#ended)
        return
      }
      if (this.#lastId === 0) this.#worker.ref()
      const id = (this.#lastId += 1)
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ id, operation, argument } satisfies WriterRequest, transfer)
    })
  }

  /** Finishes what was asked for, then ends the thread. */
  async close(): Promise<void> {
    this.#closing = true
    if (this.#ended === null) await this.call('close', null)
    await this.#worker.terminate()
  }

  #settle({ id, outcome }: WriterAnswer): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    switch (outcome.kind) {
      case 'done':
        return waiting?.resolve(outcome.value)
      case 'refused':
        return waiting?.reject(fromPlainError(outcome.error))
      case 'broken': {
        const error = new Error('the writing thread met a fault of the program')
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

/**
 * A body as it goes to the thread. A small one goes as text: that is copied at once, while every buffer costs its
 * receiver a piece of memory to be collected.
 */
export function asMessage(body: Upsert['body']): Upsert['body'] {
  if (!(body instanceof Uint8Array) || body.byteLength >= TRANSFER_BYTES || !isUtf8(body)) return body
  return UTF8.decode(body)
}

const UTF8 = new TextDecoder()

/** What of a body can be handed to the thread instead of copied: a large buffer with memory of its own. */
export function transferable(body: unknown): readonly Transferable[] {
  if (!(body instanceof Uint8Array) || body.byteLength < TRANSFER_BYTES) return []
  const { buffer } = body
  return buffer instanceof ArrayBuffer && buffer.byteLength === body.byteLength ? [buffer] : []
}
