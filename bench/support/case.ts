/** A line of the speed table. */
export type BenchRow = RatioRow | TimeRow | RateRow

/** How much is done in a time, beside a reference. */
export interface RatioRow {
  readonly what: string
  readonly unit: string
  readonly reference: string
  readonly oursPerSecond: number
  readonly referencePerSecond: number
  readonly ratio: number
  /** What the ratio must reach. */
  readonly reach: number
}

/** How long something takes that has no reference. */
export interface TimeRow {
  readonly what: string
  readonly milliseconds: number
  /** What it may take at most. */
  readonly atMostMs: number
}

/** How often something is done in a second that has no reference. */
export interface RateRow {
  readonly what: string
  readonly unit: string
  readonly perSecond: number
  /** What it must be at least. */
  readonly atLeast: number
}

/** How thorough a run of the benchmarks is. */
export interface BenchSettings {
  /** Records of the large sheet. */
  readonly records: number
  /** Length of each measurement. */
  readonly seconds: number
  /** Pairs of measurements, ours and the reference in turn. */
  readonly rounds: number
}

export interface BenchCase {
  readonly name: string
  run(settings: BenchSettings): Promise<readonly BenchRow[]>
}
