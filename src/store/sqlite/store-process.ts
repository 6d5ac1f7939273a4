import type { Upsert } from '../sheet-store.ts'
import type { RunLock } from '../stored-run.ts'
import { takeRunLock } from './database/run-lock.ts'
import { storePaths } from './definition/create-store.ts'
import type { OpenRequest } from './write/writer-protocol.ts'
import { Writer } from './write/writer.ts'

/** A command for the process, one at a time; each is answered with a {@link ProcessResponse}. */
export type ProcessCommand =
  | { readonly do: 'open'; readonly request: OpenRequest }
  /** Writes records `<prefix>0`, `<prefix>1`, … one by one, and reports each, until `count` or the process is killed. */
  | { readonly do: 'write'; readonly prefix: string; readonly count: number }
  | { readonly do: 'lock'; readonly directory: string }
  | { readonly do: 'close' }

export interface ProcessResponse {
  /** The completed command, or `stored` for each record that was written. */
  readonly did: ProcessCommand['do'] | 'stored'
  readonly error?: string
}

/** A process with a separate writer, for tests that need several. It ends with its parent. */
class StoreProcess {
  readonly #writer = new Writer()
  /** Referenced, since an unreachable lock is garbage-collected and thereby released. */
  readonly #locks: RunLock[] = []

  async carryOut(command: ProcessCommand): Promise<void> {
    switch (command.do) {
      case 'open':
        await this.#writer.handle('open', command.request)
        return
      case 'write':
        return this.#write(command.prefix, command.count)
      case 'lock':
        this.#locks.push(await takeRunLock(storePaths(command.directory).lock, 5000))
        return
      case 'close':
        await this.#writer.handle('close', null)
    }
  }

  async #write(prefix: string, count: number): Promise<void> {
    for (let number = 0; number < count; number += 1) {
      // Two records a batch, to detect half a batch.
      const records = ['', "'"].map((suffix) => ({ id: `${prefix}${number}${suffix}`, a: prefix }))
      const argument: Upsert = { body: { records }, defaultActor: `agent:${prefix}`, ifMatch: null }
      const [outcome] = await this.#writer.change([{ id: 1, operation: 'upsert', argument }])
      if (outcome !== undefined && 'error' in outcome) throw outcome.error
      respond({ did: 'stored' })
    }
  }
}

function respond(response: ProcessResponse): void {
  process.send?.(response)
}

const child = new StoreProcess()
let last: Promise<void> = Promise.resolve()
process.on('message', (command: ProcessCommand) => {
  last = last
    .then(() => child.carryOut(command))
    .then(
      () => respond({ did: command.do }),
      (error: unknown) => respond({ did: command.do, error: String(error) }),
    )
})
process.on('disconnect', () => process.exit())
