import { randomInt } from 'node:crypto'
import { seededRandom, type Random } from '../../src/store/suite/support/random.ts'

/** The number of a fuzzer's cases, and their seed. */
export interface FuzzRun {
  readonly count: number
  readonly random: Random
  /** The command that repeats the same cases, for messages of failures. */
  readonly again: string
}

/**
 * Returns the same cases in every `npm test`; `npm run test:long -- fuzz` runs more, and others each time. `COLOPHON_FUZZ_COUNT` and
 * `COLOPHON_FUZZ_SEED` override this.
 */
export function fuzzRun(counts: { readonly test: number; readonly fuzz: number }): FuzzRun {
  const { COLOPHON_FUZZ: isFuzz, COLOPHON_FUZZ_COUNT: given, COLOPHON_FUZZ_SEED: seedGiven } = process.env
  const count = given === undefined ? (isFuzz === undefined ? counts.test : counts.fuzz) : Number(given)
  const seed = seedGiven === undefined ? (isFuzz === undefined ? 1 : randomInt(2 ** 31)) : Number(seedGiven)
  return {
    count,
    random: seededRandom(seed),
    again: `COLOPHON_FUZZ_SEED=${seed} COLOPHON_FUZZ_COUNT=${count} npm run test:long -- fuzz`,
  }
}
