import type { Random } from '../src/store/suite/support/random.ts'
import type { Engine } from '../test/support/engine.ts'
import type { Scope } from './support/scope.ts'

/** What a campaign has done, by unit: for example `kills`. Sums of rounds. */
export type Counts = Readonly<Record<string, number>>

/** A row of the track record: the same attack again and again, with other random choices, until a goal is reached. */
export interface Campaign {
  /** Its name on the command line. */
  readonly name: string
  /** What is done to the product, for the track record. */
  readonly attack: string
  /** What must hold after each round, for the track record. */
  readonly claim: string
  readonly engines: readonly Engine[]
  /** The counts that end it, on each engine. */
  readonly goal: Counts
  /** Whether one part must reach the goal; otherwise parts add up. */
  readonly isWhole?: boolean
  /**
   * Prepares rounds on an engine. What must be undone at the end, also after a violation, is registered at the scope. The choices of
   * rounds depend on `random` alone, so that a seed repeats them as far as the clock of the machine allows.
   */
  readonly start: (setting: Setting) => Promise<Round>
}

/** Where and how rounds run. */
export interface Setting {
  readonly engine: Engine
  readonly random: Random
  readonly scope: Scope
  /** Sets what the track record says of the part beside its counts. */
  readonly note: (text: string) => void
}

/** One round: attacks, checks, and returns what it adds to the counts. Throws when the claim does not hold. */
export type Round = () => Promise<Counts>
