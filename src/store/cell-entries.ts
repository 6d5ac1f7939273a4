import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import type { RevertLine } from '../provenance/log-line.ts'
import type { RecordKey } from './cell-work.ts'

/** The key of a life of a record; null for a life in an imported log. */
export type Life = RecordKey | null

/** A place between the entries of a cell: after the entry `seq` of a life; 0 is its start. */
export interface EntryPlace {
  readonly life: Life
  readonly seq: number
}

/** Entries of a cell, oldest first, and the place after them; null for none. */
export interface FoundEntries {
  readonly entries: readonly JsonObject[]
  readonly next: EntryPlace | null
}

/** At most the requested number of entries, fewer where they are long, but at least one if there is one. */
export interface LatestEntries {
  readonly entries: readonly JsonObject[]
  /** Whether there are more although fewer than requested are returned. */
  readonly isCut: boolean
}

/** Returns the entry that the beginning of a life makes for a cell, given the value of the life before; null for none. */
export type Beginning = (previous: JsonValue) => JsonObject | null

/** An entry of a cell, and the one before it; null when it is the first. */
export interface PlacedEntry {
  readonly entry: JsonObject
  readonly before: JsonObject | null
}

/** Returns the seq of the entry that a revert undid; null for any other entry. */
export function undoneBy({ seq, source, reverts }: JsonObject): number | null {
  // An imported log may contain anything, even an entry that undid itself.
  return source === 'revert' && typeof reverts === 'number' && reverts < Number(seq) ? reverts : null
}

/** The members of an entry that describe the computation of its value. */
export type Computation = Pick<RevertLine, 'derivation'> & { readonly input_hash: string }

/** Returns the computation of an entry's value, which a revert may have restored; null when it was not computed. */
export function computationOf(entry: JsonObject | null): Computation | null {
  const { input_hash: inputHash, derivation } = entry ?? {}
  if (typeof inputHash !== 'string') return null
  return { input_hash: inputHash, ...(typeof derivation === 'string' ? { derivation } : {}) }
}

/**
 * Returns the entries made by beginnings of lives, given and returned latest first; `value` is that of the life before them
 * all.
 */
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
