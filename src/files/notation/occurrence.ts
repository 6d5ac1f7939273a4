import type { JsonValue } from '../../contract/json/json.ts'
import type { WrittenNumber } from '../../contract/json/written-number.ts'

/** Values of one kind, with the first of them. */
export interface Occurrence {
  count: number
  readonly value: JsonValue | WrittenNumber
  /** Where in the file, in its unit. */
  readonly at: number
}

/** Counts a value: the occurrence so far, or the first one. */
export function countOccurrence(
  earlier: Occurrence | null,
  value: JsonValue | WrittenNumber,
  at: number,
): Occurrence {
  if (earlier === null) return { count: 1, value, at }
  earlier.count += 1
  return earlier
}

/** The text of a value that was seen, without white space around it. */
export function textOf({ value }: Occurrence): string {
  return typeof value === 'string' ? value.trim() : JSON.stringify(value)
}
