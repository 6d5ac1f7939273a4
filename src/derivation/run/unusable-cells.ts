import type { RecordKey } from '../../store/cell-work.ts'

/**
 * Cells that a run has not brought up to date though they have work, by field: they failed, no call was left for them,
 * or an input of theirs is one of these. Nothing is computed from them (D27).
 */
export class UnusableCells {
  readonly #records = new Map<string, Set<RecordKey>>()
  /** Those of them that only bounds of the run are to blame for. */
  readonly #left = new Map<string, Set<RecordKey>>()

  /** Only these fields are remembered; of others nobody will ask. */
  constructor(fields: Iterable<string>) {
    for (const field of fields) {
      this.#records.set(field, new Set())
      this.#left.set(field, new Set())
    }
  }

  /** `isLeft`: whether only bounds of the run are to blame. */
  add(field: string, record: RecordKey, isLeft = false): void {
    this.#records.get(field)?.add(record)
    if (isLeft) this.#left.get(field)?.add(record)
  }

  isLeft(field: string, record: RecordKey): boolean {
    return this.#left.get(field)?.has(record) ?? false
  }

  has(field: string, record: RecordKey): boolean {
    return this.#records.get(field)?.has(record) ?? false
  }
}
