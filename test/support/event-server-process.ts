import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'
import { writeSheet } from './sheet-fixture.ts'

export interface EventServerOrder {
  /** Numbered frames to publish one after the other, without a pause. */
  readonly publish: readonly { readonly number: number; readonly bytes: number }[]
  /** Whether garbage is collected before the response. */
  readonly collect: boolean
}

/** The report of the server after a command; sizes in bytes. */
export interface EventServerAnswer {
  readonly subscribers: number
  readonly rss: number
  /** In the heap of JavaScript and in its buffers. */
  readonly used: number
}

/** A running event-server.ts. */
export class EventServerProcess {
  readonly port: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  /** Starts it over its own sheet; it is killed when the test ends. */
  static async start(t: TestContext): Promise<EventServerProcess> {
    const child = fork(join(import.meta.dirname, 'event-server.ts'), [await writeSheet(t)], {
      execArgv: ['--expose-gc'],
    })
    const ended = once(child, 'exit')
    onEnd(t, async () => {
      child.kill('SIGKILL')
      await ended
    })
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    return new EventServerProcess(child, port)
  }

  publish(frames: EventServerOrder['publish']): Promise<EventServerAnswer> {
    return this.#order({ publish: frames, collect: false })
  }

  /** Returns its sizes after a garbage collection. */
  look(): Promise<EventServerAnswer> {
    return this.#order({ publish: [], collect: true })
  }

  async #order(order: EventServerOrder): Promise<EventServerAnswer> {
    const answered = once(this.#child, 'message') as Promise<[EventServerAnswer]>
    this.#child.send(order)
    return (await answered)[0]
  }
}
