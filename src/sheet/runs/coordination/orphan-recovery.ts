import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../../errors/service-error.ts'
import { seeToLeftRuns } from './run-shared.ts'
import type { Sheet } from '../../sheet.ts'

/** How often it is looked whether a run was left. */
const LOOK_MS = 2000

/** Goes on with runs of processes that are gone, for as long as it is not stopped; only where processes share runs. */
export class OrphanRecovery {
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
    if (this.#sheet.frames === undefined) return
    const { signal } = this.#stopping
    while (!signal.aborted && !this.#sheet.stopping.aborted) {
      try {
        const { store } = await this.#sheet.current()
        if (store.tasks === undefined) return
        await seeToLeftRuns(this.#sheet, store)
      } catch (error) {
        // The sheet logs once what is wrong with its files and its store.
        if (!(error instanceof ServiceError))
          this.#sheet.logger.error({ err: error }, 'looking for runs that were left went wrong')
      }
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}
