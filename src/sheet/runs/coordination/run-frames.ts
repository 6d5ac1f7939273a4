import type { RunOrder, RunProgress } from '../../../store/stored-run.ts'
import type { Sheet } from '../../sheet.ts'
import { reportedError } from '../../run-error.ts'

/** Publishes the start of a run to the sheet's subscribers, and once how it ended; nothing for a revert. */
export class RunFrames {
  readonly #sheet: Sheet
  readonly #order: RunOrder
  readonly #actor: string
  #isOver: boolean

  constructor(sheet: Sheet, order: RunOrder) {
    this.#sheet = sheet
    this.#order = order
    this.#actor = order.actor
    this.#isOver = order.kind === 'revert'
  }

  start(): void {
    const { targets, recordIds, force } = this.#order
    this.#sheet.publish({
      kind: 'materialize.start',
      ts: now(),
      actor: this.#actor,
      targets,
      recordIds,
      force,
    })
  }

  end({ materialized, skipped, failed, totalCost }: RunProgress): void {
    if (!this.#claimEnd()) return
    this.#sheet.publish({
      kind: 'materialize.end',
      ts: now(),
      actor: this.#actor,
      materialized,
      skipped,
      failures: failed,
      totalCost,
    })
  }

  error(error: unknown): void {
    if (!this.#claimEnd()) return
    const { type, message } = reportedError(error)
    this.#sheet.publish({
      kind: 'materialize.error',
      ts: now(),
      actor: this.#actor,
      errorType: type,
      message,
    })
  }

  /** Publishes no end, since another process does. */
  suppressEnd(): void {
    this.#isOver = true
  }

  /** Whether the end has not been published; from now on it counts as published. */
  #claimEnd(): boolean {
    const isPublished = this.#isOver
    this.#isOver = true
    return !isPublished
  }
}

function now(): string {
  return new Date().toISOString()
}
