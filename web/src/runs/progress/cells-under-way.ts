import type { RunCells } from '../../../../src/client/client.ts'

/** Milliseconds after which a cell that is not listed any more is no longer under way: servers list each once a second. */
const LISTED_MS = 4000

interface Cell {
  readonly recordId: string
  readonly field: string
}

/** The cells of a run for which a call is under way; immutable. */
export class CellsUnderWay {
  static readonly NONE = new CellsUnderWay(new Map())

  /** The time at which each was listed last, by record and field. */
  readonly #listed: ReadonlyMap<string, number>

  private constructor(listed: ReadonlyMap<string, number>) {
    this.#listed = listed
  }

  has({ recordId, field }: Cell): boolean {
    return this.#listed.has(keyOf(recordId, field))
  }

  /** Returns these after a frame of the run; `now` is in milliseconds. */
  after(cells: RunCells['cells'], now: number): CellsUnderWay {
    const listed = new Map([...this.#listed].filter(([, at]) => now - at < LISTED_MS))
    for (const { record_id: recordId, field, state } of cells) {
      if (state === 'running') listed.set(keyOf(recordId, field), now)
      else listed.delete(keyOf(recordId, field))
    }
    return new CellsUnderWay(listed)
  }
}

function keyOf(recordId: string, field: string): string {
  return `${field} ${recordId}`
}
