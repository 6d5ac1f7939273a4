import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'

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
  readonly #byField = new Map<Field, Map<string, UniqueClaim>>()

  /** Takes note of what a record is to have, instead of what it was to have before. */
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

  /** The fields that values are claimed in, with these. */
  values(): (readonly [Field, readonly JsonValue[]])[] {
    return [...this.#byField].map(([field, claims]) => [
      field,
      [...claims.values()].map(({ value }) => value),
    ])
  }

  /**
   * The claims that cannot stand: of several to one value those after the first, and any to a value of another record.
   * `holders` names the records that have a value when the batch is written.
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
    return conflicts.toSorted((a, b) => a.claim.position - b.claim.position)
  }
}

/** A holder that has no claim in the batch, by which it would have got or lost the value. */
function outsider(holders: Iterable<string>, claims: ReadonlyMap<string, UniqueClaim>): string | null {
  for (const holder of holders) if (!claims.has(holder)) return holder
  return null
}
