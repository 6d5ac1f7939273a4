import type { JsonObject, JsonValue } from '../contract/json/json.ts'

/** What a life of a record says of a cell by having begun; it depends on the value of the life before. */
export type Beginning = (previous: JsonValue) => JsonObject | null

/** An entry of a cell, and the one before it; null when it is the first. */
export interface PlacedEntry {
  readonly entry: JsonObject
  readonly before: JsonObject | null
}

/** The seq of the entry that an entry undid; null for one that is no revert. */
export function undoneBy({ seq, source, reverts }: JsonObject): number | null {
  // A log that was there before the store may say anything, even that an entry undid itself.
  return source === 'revert' && typeof reverts === 'number' && reverts < Number(seq) ? reverts : null
}

/** The input hash of what a derivation answered; null for an entry that is of no derivation, such as a revert. */
export function answerOf({ source, input_hash: inputHash }: JsonObject): string | null {
  return source !== 'revert' && typeof inputHash === 'string' ? inputHash : null
}

/** What lives say by having begun, the latest first as they are given; `value` is that of the life before them all. */
export function begun(beginnings: readonly Beginning[], value: JsonValue): JsonObject[] {
  const entries: JsonObject[] = []
  let previous = value
  for (const beginning of beginnings.toReversed()) {
    const entry = beginning(previous)
    if (entry === null) continue
    entries.push(entry)
    previous = entry['value'] ?? null
  }
  return entries.toReversed()
}
