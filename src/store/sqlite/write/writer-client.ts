import { isUtf8 } from 'node:buffer'
import type { SetAside } from '../../../provenance/set-aside.ts'
import type { Upsert } from '../../sheet-store.ts'
import { ThreadClient, TRANSFER_BYTES } from '../database/thread-client.ts'
import type { TakenLines, WriterMessage, WriterOperations } from './writer-protocol.ts'
import { entryModule } from '../../../package/package-files.ts'

/** The writing thread, as the other threads use it. */
export class WriterClient extends ThreadClient<WriterOperations> {
  /** Called when the thread has moved lines that the store does not have out of the log. */
  onSetAside: (lines: SetAside) => void = () => undefined

  /** Called when the thread has taken lines of another copy of the sheet over. */
  onTakenOver: (taken: TakenLines) => void = () => undefined

  /** Called when the thread has written lines of the log, with their number. */
  onLines: (count: number) => void = () => undefined

  constructor() {
    super({ name: 'writing', module: entryModule(import.meta.url, 'writer-thread') })
  }

  /** Finishes pending requests, then closes the store and leaves the thread. */
  override async close(): Promise<void> {
    if (this.hasEnded) return
    try {
      await this.call('close', null)
    } catch (error) {
      await super.close()
      throw error
    }
    this.leave()
  }

  protected override receive(message: WriterMessage): void {
    if ('setAside' in message) this.onSetAside(message.setAside)
    else if ('takenOver' in message) this.onTakenOver(message.takenOver)
    else if ('lines' in message) this.onLines(message.lines)
    else super.receive(message)
  }
}

/**
 * Returns a body as it is sent to the thread. A small one is sent as text, which is copied at once, while every buffer
 * costs the receiver an allocation to collect.
 */
export function asMessage(body: Upsert['body']): Upsert['body'] {
  if (!(body instanceof Uint8Array) || body.byteLength >= TRANSFER_BYTES || !isUtf8(body)) return body
  return UTF8.decode(body)
}

const UTF8 = new TextDecoder()
