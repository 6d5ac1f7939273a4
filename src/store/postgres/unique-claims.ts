import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { Connection } from './connection.ts'
import { UniqueHolders } from './unique-holders.ts'

/** A value that a record of a batch is to have in a unique field. */
export interface UniqueClaim {
  readonly field: Field
  /** The record's id. */
  readonly id: string
  /** Where in the batch. */
  readonly position: number
  readonly value: JsonValue
}

/** A claim to a value that another record has. */
export interface UniqueConflict {
  readonly claim: UniqueClaim
  readonly holder: string
}

/**
 * The values that a batch gives to unique fields. What counts is what the batch leaves behind (D13), so they are judged
 * at its end: records can swap their values.
 */
export class UniqueClaims {
  readonly #db: Connection
  readonly #byField = new Map<Field, Map<string, UniqueClaim>>()

  constructor(db: Connection) {
    this.#db = db
  }

  get isEmpty(): boolean {
    return this.#byField.size === 0
  }

  /** Takes note of what a record is to have, instead of what it was to have before. */
  add(claim: UniqueClaim): void {
    const { field, id } = claim
    const claims = this.#byField.get(field) ?? new Map<string, UniqueClaim>()
    this.#byField.set(field, claims)
    claims.delete(id)
    claims.set(id, claim)
  }

  /** The claims that cannot stand: of several to one value those after the first, and any to a value of another record. */
  async conflicts(): Promise<UniqueConflict[]> {
    const conflicts: UniqueConflict[] = []
    for (const [field, claims] of this.#byField) {
      const values = [...claims.values()].map(({ value }) => value)
      const holders = await UniqueHolders.read(this.#db, field, values)
      const first = new Map<string, UniqueClaim>()
      for (const claim of claims.values()) {
        if (claim.value === null) continue
        const stored = JSON.stringify(claim.value)
        const earlier = first.get(stored)
        if (earlier === undefined) first.set(stored, claim)
        // A record that has the value, and no claim in this batch by which it would have got or lost it.
        const holder = earlier?.id ?? holders.of(claim.value).find(({ id }) => !claims.has(id))?.id
        if (holder !== undefined) conflicts.push({ claim, holder })
      }
    }
    return conflicts.toSorted((a, b) => a.claim.position - b.claim.position)
  }
}
