import { setTimeout as delay } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { onEnd } from '../support/on-end.ts'
import type { Cluster } from './cluster.ts'

/** A frame as a subscriber was told it. */
export interface ToldFrame {
  /** Null for what is told to this subscriber alone. */
  readonly id: number | null
  readonly kind: string
  readonly data: string
}

/** Between two tries to connect; servers die and come back meanwhile. */
const AGAIN_MS = 20

/**
 * A subscriber of a stream: first of one server, and when that is gone of another, where it says what it had last, as browsers
 * do. It stops after a `run.end`, and when it is told to.
 */
export class StreamFollower {
  readonly told: ToldFrame[] = []
  /** The number of reconnections. */
  returns = 0
  readonly #cluster: Cluster
  readonly #path: string
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>
  readonly #connected = Promise.withResolvers<void>()
  #lastId: string | null = null
  #turn: number

  constructor(t: TestContext, cluster: Cluster, { path, first }: { path: string; first: number }) {
    this.#cluster = cluster
    this.#path = path
    this.#turn = first
    this.#ended = this.#follow()
    onEnd(t, () => this.stop())
  }

  /** Resolves when it is told all that happens from then on. */
  connected(): Promise<void> {
    return this.#connected.promise
  }

  /** Resolves when the stream has ended by itself, or was stopped. */
  end(): Promise<void> {
    return this.#ended
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#ended
  }

  async #follow(): Promise<void> {
    while (!this.#stopping.signal.aborted && this.told.at(-1)?.kind !== 'run.end') {
      try {
        await this.#read()
      } catch {
        // Its server is gone, or not there yet.
      }
      this.returns += 1
      await delay(AGAIN_MS)
    }
  }

  async #read(): Promise<void> {
    const servers = this.#cluster.servers()
    const server = servers[(this.#turn += 1) % servers.length]
    const answer = await fetch(`${server?.url ?? ''}${this.#path}`, {
      headers: {
        accept: 'text/event-stream',
        ...(this.#lastId !== null && { 'last-event-id': this.#lastId }),
      },
      signal: this.#stopping.signal,
    })
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) this.#take(block)
    }
  }

  /** Takes a frame, a comment, or an id that stands alone: the place of those that follow. */
  #take(block: string): void {
    const lines = new Map(block.split('\n').map((line) => [line.split(': ', 1)[0], line]))
    const value = (name: string): string | null => lines.get(name)?.slice(name.length + 2) ?? null
    const id = value('id')
    if (id !== null) {
      this.#lastId = id
      this.#connected.resolve()
    }
    const kind = value('event')
    if (kind === null) return
    this.told.push({ id: id === null ? null : Number(id), kind, data: value('data') ?? '' })
  }
}
