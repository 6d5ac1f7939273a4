/** The figures of the values of some cells. */
export interface CellFigures {
  /** The number of cells with a value. */
  readonly filled: number
  /** The number of cells with a number. */
  readonly numbers: number
  /** The sum of the numbers. */
  readonly sum: number
}

/** Counts values and adds up the numbers among them. */
export function figuresOf(values: Iterable<unknown>): CellFigures {
  let [filled, numbers, sum, lost] = [0, 0, 0, 0]
  for (const value of values) {
    if (value === null || value === undefined) continue
    filled += 1
    if (typeof value !== 'number') continue
    numbers += 1
    // Kahan summation, so that decimal fractions add up without visible errors.
    const exact = value - lost
    const next = sum + exact
    lost = next - sum - exact
    sum = next
  }
  return { filled, numbers, sum: Number(sum.toPrecision(15)) }
}

/** Rounds an average to two decimals; below 1 to four digits. */
export function roundedAverage(average: number): number {
  return Math.abs(average) < 1 ? Number(average.toPrecision(4)) : Math.round(average * 100) / 100
}
