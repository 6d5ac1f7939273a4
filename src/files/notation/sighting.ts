import type { JsonValue } from '../../contract/json/json.ts'
import type { WrittenNumber } from '../../contract/json/written-number.ts'

/** Values of one kind, with the first of them. */
export interface Sighting {
  count: number
  readonly value: JsonValue | WrittenNumber
  /** Where in the file, in its unit. */
  readonly at: number
}

/** Counts a value: the sighting so far, or the first one. */
export function sight(earlier: Sighting | null, value: JsonValue | WrittenNumber, at: number): Sighting {
  if (earlier === null) return { count: 1, value, at }
  earlier.count += 1
  return earlier
}

/** The text of a value that was seen, without white space around it. */
export function textOf({ value }: Sighting): string {
  return typeof value === 'string' ? value.trim() : JSON.stringify(value)
}
