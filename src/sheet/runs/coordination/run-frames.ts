import type { RunOrder, RunProgress } from '../../../store/stored-run.ts'
import type { Sheet } from '../../sheet.ts'
import { reportedError } from '../../run-error.ts'

/** Tells the sheet's subscribers of a run: that it has begun, and once how it ended. */
export class RunFrames {
  readonly #sheet: Sheet
  readonly #actor: string
  #isOver = false

  constructor(sheet: Sheet, actor: string) {
    this.#sheet = sheet
    this.#actor = actor
  }

  start({ targets, recordIds, force }: RunOrder): void {
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
    if (!this.#over()) return
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
    if (!this.#over()) return
    const { type, message } = reportedError(error)
    this.#sheet.publish({
      kind: 'materialize.error',
      ts: now(),
      actor: this.#actor,
      errorType: type,
      message,
    })
  }

  /** Another process tells how it ended. */
  silence(): void {
    this.#isOver = true
  }

  /** Whether the end is still to be told. */
  #over(): boolean {
    const told = this.#isOver
    this.#isOver = true
    return !told
  }
}

function now(): string {
  return new Date().toISOString()
}
