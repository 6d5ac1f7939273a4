import { hash } from 'node:crypto'
import type { StepHashes } from '../../definition/derivation-kind.ts'

/** A step as the hashes of a computation cover it. */
export interface Link {
  /** Its input hash; null if nothing is computed, or its plan failed. */
  readonly hash: string | null
  /** Its condition with the dialect and the values of the record that it reads; null for none. */
  readonly accept: string | null
}

/** The hashes of a computation: `at[k]` is that of a value that step k + 1 brought, `whole` that of a computation that no step ended. */
export interface Chain extends StepHashes {
  readonly at: readonly string[]
}

/**
 * Returns the hashes of a computation: that of a value covers the steps up to the one that brought it, so that an edit of a step makes only
 * values stale that came from it or from a later step.
 */
export function chainOf(targets: readonly string[], links: readonly Link[]): Chain {
  let last = digest(['first', ...targets])
  const at = links.map((link) => (last = digest([last, link.hash, link.accept])))
  // Another step at the end may have a value for a record that no step had one for.
  const whole = digest([last, 'end'])
  return { at, whole, valid: [whole, ...at] }
}

function digest(parts: readonly (string | null)[]): string {
  return `sha256:${hash('sha256', JSON.stringify(parts), 'hex')}`
}
