import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'

/** A value that a record of a batch is to have in a unique field. */
export interface UniqueClaim {
  readonly field: Field
  readonly id: string
  /** The index in the batch. */
  readonly index: number
  readonly value: JsonValue
}

/** A claim to a value that another record has. */
export interface UniqueConflict {
  readonly claim: UniqueClaim
  readonly holder: string
}

/**
 * The values that a batch sets in unique fields. They are checked at the end of the batch (D13), so that records can swap
 * their values.
 */
export class UniqueClaims {
  readonly #byField = new Map<Field, Map<string, UniqueClaim>>()

  /** Adds a claim, which replaces an earlier one of the record in the field. */
  add(claim: UniqueClaim): void {
    const { field, id } = claim
    const claims = this.#byField.get(field) ?? new Map<string, UniqueClaim>()
    this.#byField.set(field, claims)
    claims.delete(id)
    claims.set(id, claim)
  }

  get isEmpty(): boolean {
    return this.#byField.size === 0
  }

  /** Returns the fields with claims, and the claimed values. */
  values(): (readonly [Field, readonly JsonValue[]])[] {
    return [...this.#byField].map(([field, claims]) => [
      field,
      [...claims.values()].map(({ value }) => value),
    ])
  }

  /**
   * Returns the claims that conflict: of several to one value those after the first, and any to a value of another record.
   * `holders` returns the ids of the records that have a value when the batch is written.
   */
  conflicts(holders: (field: Field, value: JsonValue) => Iterable<string>): UniqueConflict[] {
    const conflicts: UniqueConflict[] = []
    for (const [field, claims] of this.#byField) {
      const first = new Map<string, UniqueClaim>()
      for (const claim of claims.values()) {
        if (claim.value === null) continue
        const text = JSON.stringify(claim.value)
        const earlier = first.get(text)
        if (earlier === undefined) first.set(text, claim)
        const holder = earlier?.id ?? outsider(holders(field, claim.value), claims)
        if (holder !== null) conflicts.push({ claim, holder })
      }
    }
    return conflicts.toSorted((a, b) => a.claim.index - b.claim.index)
  }
}

/** Returns a holder that is not in the batch, which could change its value; null for none. */
function outsider(holders: Iterable<string>, claims: ReadonlyMap<string, UniqueClaim>): string | null {
  for (const holder of holders) if (!claims.has(holder)) return holder
  return null
}
