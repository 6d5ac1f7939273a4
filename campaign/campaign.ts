import type { Random } from '../src/store/suite/support/random.ts'
import type { Engine } from '../test/support/engine.ts'
import type { Scope } from './support/scope.ts'

/** Numbers by their unit, for example `kills`. Those of a campaign are the sums of its rounds. */
export type Counts = Readonly<Record<string, number>>

/** A row of the track record: the same attack again and again, with other random choices, until a goal is reached. */
export interface Campaign {
  /** Its name on the command line. */
  readonly name: string
  /** The attack on the product, in the words of the track record. */
  readonly attack: string
  /** The conditions that are checked after each round, in the words of the track record. */
  readonly claim: string
  readonly engines: readonly Engine[]
  /** The counts that end it, on each engine. */
  readonly goal: Counts
  /** Whether one part must reach the goal; otherwise parts add up. */
  readonly isWhole?: boolean
  /**
   * Prepares rounds on an engine. Cleanup is registered at the scope, and also runs after a round that failed. The choices of
   * rounds depend on `random` alone, so that a seed repeats them as far as the clock of the machine allows.
   */
  readonly start: (setting: Setting) => Promise<Round>
}

/** The engine, the random choices and the cleanup of rounds. */
export interface Setting {
  readonly engine: Engine
  readonly random: Random
  readonly scope: Scope
  /** Sets further figures of the part, as text for the track record. */
  readonly note: (text: string) => void
}

/** One round: attacks, checks, and returns what it adds to the counts. Throws when the claim does not hold. */
export type Round = () => Promise<Counts>
