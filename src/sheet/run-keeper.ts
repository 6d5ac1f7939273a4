import { setTimeout as delay } from 'node:timers/promises'
import { seeToLeftRuns } from './run-shared.ts'
import type { Sheet } from './sheet.ts'
import { isTrouble } from './task-runner.ts'

/** How often it is looked whether a run was left. */
const LOOK_MS = 2000

/** Goes on with runs of processes that are gone, for as long as it is not stopped; only where processes share runs. */
export class RunKeeper {
  readonly #sheet: Sheet
  readonly #stopping = new AbortController()
  readonly #keeping: Promise<void>

  constructor(sheet: Sheet) {
    this.#sheet = sheet
    this.#keeping = this.#keep()
  }

  /** Resolves when nothing is under way; a run that it sees to is stopped by the sheet. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#keeping
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted && !this.#sheet.stopping.aborted) {
      try {
        const { store } = await this.#sheet.current()
        if (store.tasks === undefined) return
        await seeToLeftRuns(this.#sheet, store)
      } catch (error) {
        // What is wrong with the store is told to all who ask for something.
        if (!isTrouble(error))
          this.#sheet.logger.error({ err: error }, 'looking for runs that were left went wrong')
      }
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}
