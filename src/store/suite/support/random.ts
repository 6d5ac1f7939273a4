/** Random choices that are the same for the same seed. */
export interface Random {
  readonly seed: number
  /** An integer from 0 and below `limit`. */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
  /** True with this probability. */
  chance(probability: number): boolean
}

/** Factor by which a long test increases the number of operations. */
export const RANDOM_TIMES = Number(process.env['COLOPHON_RANDOM_TIMES'] ?? 1)

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    seed,
    below: (limit) => Math.floor(next() * limit),
    pick: (items) => items[Math.floor(next() * items.length)]!,
    chance: (probability) => next() < probability,
  }
}
