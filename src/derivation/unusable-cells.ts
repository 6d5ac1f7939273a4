import type { RecordKey } from '../store/cell-work.ts'

/**
 * Cells that a run has not brought up to date though they have work, by field: they failed, no call was left for them,
 * or an input of theirs is one of these. Nothing is computed from them (D27).
 */
export class UnusableCells {
  readonly #records = new Map<string, Set<RecordKey>>()

  /** Only these fields are remembered; of others nobody will ask. */
  constructor(fields: Iterable<string>) {
    for (const field of fields) this.#records.set(field, new Set())
  }

  add(field: string, record: RecordKey): void {
    this.#records.get(field)?.add(record)
  }

  has(field: string, record: RecordKey): boolean {
    return this.#records.get(field)?.has(record) ?? false
  }
}
