import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { toPlainError } from '../errors/service-error.ts'
import type { FormatReply, FormatMessage, FormatThreadData } from './format-protocol.ts'
import { writeRecordFile } from './write-record-file.ts'

/** Writes a file from the pages of another thread, so that the other thread is not blocked. */
async function write(port: MessagePort): Promise<void> {
  const { format, fields, raw, delimiter } = workerData as FormatThreadData
  const send = (message: FormatMessage): void => port.postMessage(message)
  const replies = new Replies(port)
  async function* pages(): AsyncGenerator<Uint8Array> {
    for (;;) {
      send({ kind: 'page' })
      const page = await replies.page()
      if (page === null) return
      yield page
    }
  }
  try {
    for await (const bytes of writeRecordFile(format, { fields, pages: pages() }, { raw, delimiter })) {
      send({ kind: 'bytes', bytes })
      await replies.taken()
    }
    send({ kind: 'end' })
  } catch (error) {
    const plain = toPlainError(error)
    if (plain !== undefined) send({ kind: 'refused', error: plain })
    else send({ kind: 'broken', stack: error instanceof Error ? String(error.stack) : String(error) })
  } finally {
    port.close()
  }
}

/** Receives the replies of the other thread; the two kinds are awaited independently. */
class Replies {
  #page: ((page: Uint8Array | null) => void) | null = null
  #taken: (() => void) | null = null

  constructor(port: MessagePort) {
    port.on('message', (answer: FormatReply) => {
      if (answer.kind === 'page') this.#page?.(answer.page)
      else this.#taken?.()
    })
  }

  page(): Promise<Uint8Array | null> {
    return new Promise((resolve) => {
      this.#page = resolve
    })
  }

  taken(): Promise<void> {
    return new Promise((resolve) => {
      this.#taken = resolve
    })
  }
}

if (parentPort === null) throw new Error('this file is the entry of a thread')
void write(parentPort)
