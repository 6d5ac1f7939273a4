import type { SQLInputValue } from 'node:sqlite'
import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { Connection } from './connection.ts'
import { quoted } from './schema.ts'
import { toColumn } from './values.ts'

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
 * when all of it is written: records can swap their values.
 */
export class UniqueClaims {
  readonly #db: Connection
  readonly #byField = new Map<Field, Map<string, UniqueClaim>>()

  constructor(db: Connection) {
    this.#db = db
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
  conflicts(): UniqueConflict[] {
    const conflicts: UniqueConflict[] = []
    for (const claims of this.#byField.values()) {
      const first = new Map<SQLInputValue, UniqueClaim>()
      for (const claim of claims.values()) {
        if (claim.value === null) continue
        const stored = toColumn(claim.value)
        const earlier = first.get(stored)
        if (earlier === undefined) first.set(stored, claim)
        const holder = earlier?.id ?? this.#holderOutside(claims, claim)
        if (holder !== null) conflicts.push({ claim, holder })
      }
    }
    return conflicts.toSorted((a, b) => a.claim.position - b.claim.position)
  }

  /** The record that has the value, and no claim in this batch by which it would have got or lost it. */
  #holderOutside(claims: ReadonlyMap<string, UniqueClaim>, { field, value }: UniqueClaim): string | null {
    const rows = this.#db
      .prepare(`SELECT id FROM "$data" WHERE ${quoted(field.name)} = ?`)
      .iterate(toColumn(value))
    for (const row of rows) if (!claims.has(String(row['id']))) return String(row['id'])
    return null
  }
}
