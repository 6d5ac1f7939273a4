/** A line of the speed table. */
export interface BenchRow {
  readonly what: string
  readonly unit: string
  readonly reference: string
  readonly oursPerSecond: number
  readonly referencePerSecond: number
  readonly ratio: number
  /** What the ratio must reach. */
  readonly reach: number
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
