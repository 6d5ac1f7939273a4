import { randomInt } from 'node:crypto'
import { seededRandom, type Random } from '../../src/store/suite/support/random.ts'

/** How many cases a fuzzer tries, and from which seed. */
export interface FuzzRun {
  readonly count: number
  readonly random: Random
  /** How to have the same cases again; for messages of failures. */
  readonly again: string
}

/**
 * The same cases at every `npm test`; `npm run campaign -- fuzz` tries more, and others each time. `COLOPHON_FUZZ_COUNT` and
 * `COLOPHON_FUZZ_SEED` say otherwise.
 */
export function fuzzRun(counts: { readonly test: number; readonly fuzz: number }): FuzzRun {
  const { COLOPHON_FUZZ: isFuzz, COLOPHON_FUZZ_COUNT: given, COLOPHON_FUZZ_SEED: seedGiven } = process.env
  const count = given === undefined ? (isFuzz === undefined ? counts.test : counts.fuzz) : Number(given)
  const seed = seedGiven === undefined ? (isFuzz === undefined ? 1 : randomInt(2 ** 31)) : Number(seedGiven)
  return {
    count,
    random: seededRandom(seed),
    again: `COLOPHON_FUZZ_SEED=${seed} COLOPHON_FUZZ_COUNT=${count} npm run campaign -- fuzz`,
  }
}
