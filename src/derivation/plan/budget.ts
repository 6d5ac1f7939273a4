/** Dollars that a call costs; null for an unknown price, which counts as zero. */
export type Price = number | null

/** Most calls that a run may begin, and most dollars that it may spend; null for no bound. */
export interface Bounds {
  readonly maxCalls: number | null
  readonly maxCost: number | null
}

/**
 * Reserves the estimate of each call of a run, and refuses calls that would exceed a bound. A call is reserved before it waits for a
 * permit, so that the bounds hold however many calls are under way. It is reserved once, however often it is tried. Its actual cost
 * replaces the estimate: the bounds hold for the sum of reserved and settled amounts.
 */
export class Budget {
  readonly #bounds: Bounds
  readonly #begun = new Prices()
  /** Reservations that are neither settled nor given back. */
  #open = 0
  #waiting: (() => void)[] = []

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Reserves a call of this price; false if it must not begin, and then reserves nothing. */
  begin(price: Price): boolean {
    const { maxCalls } = this.#bounds
    if (maxCalls !== null && this.#begun.count >= maxCalls) return false
    if (!this.#hasMoney(price)) return false
    this.#begun.add(price)
    this.#open += 1
    return true
  }

  /** Whether a call of this price exceeds `maxCost` now, but may not once other reservations are settled. */
  isShort(price: Price): boolean {
    const { maxCalls, maxCost } = this.#bounds
    const isPossible = (maxCalls === null || this.#begun.count < maxCalls) && (price ?? 0) <= (maxCost ?? 0)
    return this.#open > 0 && isPossible && !this.#hasMoney(price)
  }

  /** Resolves when the next reservation is settled or given back. */
  nextSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
    })
  }

  /** Cancels the reservation of a call that was not made. */
  giveBack(price: Price): void {
    this.#begun.add(price, -1)
    this.#close()
  }

  /** Replaces the reserved amount of a call by its actual cost. To be called once for each call that was made. */
  settle(reserved: Price, actual: Price): void {
    this.#begun.settle(reserved, actual)
    this.#close()
  }

  get calls(): number {
    return this.#begun.count
  }

  /** The total in dollars. */
  get cost(): number {
    return this.#begun.sum
  }

  /** The number of calls without a price. */
  get unpricedCalls(): number {
    return this.#begun.unpriced
  }

  /** The number of calls by price. */
  get prices(): Iterable<readonly [price: Price, calls: number]> {
    return this.#begun
  }

  #hasMoney(price: Price): boolean {
    const { maxCost } = this.#bounds
    return maxCost === null || this.#begun.sumWith(price) <= inDollars(maxCost)
  }

  #close(): void {
    this.#open -= 1
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

/** Whole billionths of a dollar. */
const PARTS = 1e9

/**
 * Counts calls by price. Prices are not added up, since sums of floating-point numbers are not exact. Actual costs, which may all differ,
 * are added up in whole billionths of a dollar.
 */
export class Prices implements Iterable<readonly [price: Price, count: number]> {
  readonly #counts = new Map<Price, number>()
  /** The sum of settled amounts, in billionths of a dollar. */
  #settled = 0
  #count = 0
  #sum: number | null = 0

  add(price: Price, count = 1): void {
    const counted = (this.#counts.get(price) ?? 0) + count
    if (counted === 0) this.#counts.delete(price)
    else this.#counts.set(price, counted)
    this.#count += count
    this.#sum = null
  }

  /** Replaces the price of a counted call by its actual cost. */
  settle(price: Price, actual: Price): void {
    if (actual === price) return
    this.add(price, -1)
    this.add(actual === null ? null : 0)
    this.#settled += Math.round((actual ?? 0) * PARTS)
  }

  get count(): number {
    return this.#count
  }

  /** The number of calls without a price. */
  get unpriced(): number {
    return this.#counts.get(null) ?? 0
  }

  /** The sum, to a billionth of a dollar. */
  get sum(): number {
    return (this.#sum ??= inDollars(this.#exactSum()))
  }

  /** Returns the sum with one more call. */
  sumWith(price: Price): number {
    return inDollars(this.#exactSum() + (price ?? 0))
  }

  [Symbol.iterator](): Iterator<readonly [price: Price, count: number]> {
    return this.#counts.entries()
  }

  #exactSum(): number {
    let sum = this.#settled / PARTS
    for (const [price, count] of this.#counts) sum += (price ?? 0) * count
    return sum
  }
}

/** Returns the most of these calls that can be made within bounds, and the most that they can cost. */
export function mostPossible(
  prices: Iterable<readonly [price: Price, count: number]>,
  { maxCalls, maxCost }: Bounds,
): Pick<Budget, 'calls' | 'cost'> {
  const cheapestFirst = [...prices].toSorted(([one], [other]) => (one ?? 0) - (other ?? 0))
  const budget = new Prices()
  for (const [price, count] of cheapestFirst) {
    const room = price !== null && price > 0 ? ((maxCost ?? Infinity) - budget.sum) / price : Infinity
    // A billionth of a call is added, since the quotient may lie just below a whole number.
    const affordable = Math.floor(room + 1e-9)
    budget.add(price, Math.max(0, Math.min(count, affordable, (maxCalls ?? Infinity) - budget.count)))
  }
  const dearest = new Prices()
  for (const [price, count] of cheapestFirst.toReversed()) {
    dearest.add(price, Math.min(count, (maxCalls ?? Infinity) - dearest.count))
  }
  return { calls: budget.count, cost: Math.min(dearest.sum, maxCost ?? Infinity) }
}

function inDollars(sum: number): number {
  return Math.round(sum * 1e9) / 1e9
}
