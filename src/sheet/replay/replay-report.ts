import type { JsonValue } from '../../contract/json/json.ts'
import type { CellOfRun } from '../../derivation/run-request.ts'

/** The most items of each list of a {@link ReplayReport}. */
export const LISTED = 100

/** Items that are counted, of which the first {@link LISTED} are listed. */
export interface Listed<T> {
  readonly count: number
  readonly first: readonly T[]
}

/** A cell whose request is not in the recording, or that could not be computed without such a cell. */
export interface ReplayMiss extends CellOfRun {
  readonly error: string
}

/** A difference of a replayed cell from that of the archive. */
export interface CellDifference extends CellOfRun {
  /** `value`, `state`, `failure`, or a member of its provenance entry. */
  readonly what: string
  readonly replayed: JsonValue
  readonly recorded: JsonValue
}

/** A difference of the runs of a replay from the recorded run that they repeat. */
export interface RunDifference {
  readonly run: string
  readonly what: 'calls' | 'total_cost'
  readonly replayed: number
  readonly recorded: number
}

/** Cells that are not replayed, by the reason. */
export interface LeftOut extends Listed<CellOfRun> {
  readonly reason: string
}

export interface ReplayReport {
  /** Recorded runs of which cells were replayed. */
  readonly runs: number
  /** Replayed cells, and those of them that are as in the archive, whatever they cost. */
  readonly cells: number
  readonly equal: number
  /** Those of the equal ones with another cost. */
  readonly differentCosts: Listed<CellDifference>
  /** Calls that the recording answered, and dollars that they cost by the prices of the definition. */
  readonly calls: number
  readonly totalCost: number
  readonly missed: Listed<ReplayMiss>
  /** Cells whose inputs were missed, and which therefore were not computed. */
  readonly notComputed: Listed<CellOfRun>
  readonly different: Listed<CellDifference>
  readonly differentRuns: readonly RunDifference[]
  readonly leftOut: readonly LeftOut[]
  /** Hex SHA-256 of the values, failures and provenance of all replayed cells: equal for equal replays. */
  readonly digest: string
}

/**
 * Whether a replay made the cells and calls of the archive. Costs do not count: a store does not keep the prices of its runs, and from equal
 * calls and usage only other prices make other costs.
 */
export function isAsRecorded({ cells, equal, differentRuns }: ReplayReport): boolean {
  return equal === cells && differentRuns.every(({ what }) => what !== 'calls')
}

/** Counts items, and keeps the first of them. */
export class Listing<T> {
  #count = 0
  readonly #first: T[] = []

  add(item: T): void {
    this.#count += 1
    if (this.#first.length < LISTED) this.#first.push(item)
  }

  list(): Listed<T> {
    return { count: this.#count, first: this.#first }
  }
}
