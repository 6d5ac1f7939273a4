import type { JsonValue } from '../../contract/json/json.ts'
import type { WrittenNumber } from '../../contract/json/written-number.ts'

/** The number of values of one kind, and the first of them. */
export interface Occurrence {
  count: number
  readonly value: JsonValue | WrittenNumber
  /** Its place in the file's unit. */
  readonly at: number
}

/** Adds a value to an occurrence, or begins a new one. */
export function countOccurrence(
  earlier: Occurrence | null,
  value: JsonValue | WrittenNumber,
  at: number,
): Occurrence {
  if (earlier === null) return { count: 1, value, at }
  earlier.count += 1
  return earlier
}

/** Returns the trimmed text of the first value. */
export function textOf({ value }: Occurrence): string {
  return typeof value === 'string' ? value.trim() : JSON.stringify(value)
}
