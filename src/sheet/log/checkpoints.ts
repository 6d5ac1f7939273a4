import { randomBytes } from 'node:crypto'
import { checkpointBody, formatNote, parseNote } from '../../proof/checkpoint.ts'
import type { NoteSigner } from '../../proof/node-primitives.ts'
import type { StoredCheckpoint } from '../../store/log-tree-store.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import { LogTree } from './log-tree.ts'

/** The lines after which a checkpoint is made, beside those at the end of runs. */
const CHECKPOINT_LINES = 10_000

export interface CheckpointOptions {
  /** The key that signs checkpoints; null leaves them unsigned. */
  readonly signer: NoteSigner | null
  /** Publishes the text of a new checkpoint; null for nowhere. Throws ServiceError. */
  readonly publish: ((note: string) => Promise<void>) | null
}

interface CheckpointParts extends CheckpointOptions {
  store(): SheetStore | null
  /** Delays closing the sheet. */
  during(work: Promise<unknown>): void
  warn(message: string): void
}

/**
 * Makes checkpoints of the log: at the end of each run, and after some thousand lines; both in the background, one after the
 * other.
 */
export class Checkpoints {
  readonly #parts: CheckpointParts
  /** Lines that this process has written since it looked whether a checkpoint is due. */
  #lines = 0
  /** Settles when the checkpoint that is being made is there. */
  #making: Promise<unknown> = Promise.resolve()
  /** Whether another one waits for that. */
  #isWaiting = false

  constructor(parts: CheckpointParts) {
    this.#parts = parts
  }

  /** Notes lines that this process has written. */
  noteLines(count: number): void {
    this.#lines += count
    if (this.#lines >= CHECKPOINT_LINES) this.makeSoon()
  }

  /** Makes a checkpoint in the background, if the log has grown. */
  makeSoon(): void {
    this.#lines = 0
    if (this.#isWaiting) return
    const store = this.#parts.store()
    if (store === null) return
    this.#isWaiting = true
    const made = this.#makeAfter(this.#making, store)
    this.#making = made
    this.#parts.during(made)
  }

  async #makeAfter(earlier: Promise<unknown>, store: SheetStore): Promise<void> {
    await earlier
    this.#isWaiting = false
    try {
      await this.#make(store)
    } catch (error) {
      this.#parts.warn(`a checkpoint of the log: ${(error as Error).message}`)
    }
  }

  /** Makes a checkpoint of the present log, unless the last one is as good, and returns the last one; null for an empty log. */
  make(store: SheetStore): Promise<StoredCheckpoint | null> {
    const made = this.#making.then(() => this.#make(store))
    this.#making = made.catch(() => undefined)
    return made
  }

  async #make({ tree: stored }: SheetStore): Promise<StoredCheckpoint | null> {
    const { signer, publish } = this.#parts
    const tree = new LogTree(stored)
    const { lines, seq } = await tree.grow()
    const last = await stored.lastCheckpoint()
    if (lines === 0) return last
    if (last !== null && last.size >= lines && (last.isSigned || signer === null)) return last
    const origin = (last === null ? null : parseNote(last.note)?.origin) ?? newOrigin()
    const body = checkpointBody({ origin, size: lines, root: await tree.root(lines) })
    const note = signer === null ? formatNote(body, []) : signer.sign(body)
    const isStored = await stored.addCheckpoint({ size: lines, seq, note, isSigned: signer !== null })
    if (isStored) await publish?.(note)
    return stored.lastCheckpoint()
  }
}

/** Returns a name for a log that no other log has. */
function newOrigin(): string {
  return `colophon/${randomBytes(8).toString('hex')}`
}
