import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../../errors/service-error.ts'
import { recoverOrphanedRuns } from './finish-orphaned-runs.ts'
import type { Sheet } from '../../sheet.ts'

/** The interval, in milliseconds, at which orphaned runs are looked for. */
const POLL_MS = 2000

/** Takes over orphaned runs until it is stopped; does nothing where processes do not share runs. */
export class OrphanRecovery {
  readonly #sheet: Sheet
  readonly #stopping = new AbortController()
  readonly #loop: Promise<void>

  constructor(sheet: Sheet) {
    this.#sheet = sheet
    this.#loop = this.#run()
  }

  /** Resolves when nothing is under way. Closing the sheet stops a run that it coordinates. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  async #run(): Promise<void> {
    if (this.#sheet.frames === undefined) return
    const { signal } = this.#stopping
    while (!signal.aborted && !this.#sheet.stopping.aborted) {
      try {
        const { store } = await this.#sheet.current()
        if (store.tasks === undefined) return
        await recoverOrphanedRuns(this.#sheet, store)
      } catch (error) {
        // The sheet logs errors of its files and its store, each once.
        if (!(error instanceof ServiceError))
          this.#sheet.logger.error({ err: error }, 'recovering orphaned runs failed')
      }
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}
