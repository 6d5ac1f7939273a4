import type { JsonValue } from '../contract/json/json.ts'
import type { RecordKey } from './cell-work.ts'

/** The results of a review of a cell's value. */
export const VERDICTS = ['approved', 'flagged'] as const

export type Verdict = (typeof VERDICTS)[number]

/** A review of the value that a cell had. */
export interface StoredReview {
  /** The seq of its line in the log. */
  readonly seq: number
  /** UTC with milliseconds. */
  readonly at: string
  readonly actor: string
  readonly recordId: string
  readonly field: string
  readonly verdict: Verdict
  readonly note: string | null
  /** Whether it is in force: the value has not changed since, and there is no later review of the cell. */
  readonly isActive: boolean
}

/** The number of cells with a review in force, by its verdict. */
export type ReviewCounts = Readonly<Record<Verdict, number>>

export interface ReviewsQuery {
  /** Null for all records, fields and verdicts. */
  readonly record: RecordKey | null
  readonly field: string | null
  readonly verdict: Verdict | null
  /** Whether only reviews in force are returned. */
  readonly isActive: boolean
  /** Reviews before this seq; null starts at the newest. */
  readonly before: number | null
  readonly limit: number
}

/** A cell that was reviewed. */
export interface ReviewedCell {
  readonly recordId: string
  readonly field: string
  /** The value that was seen; undefined if any is meant. */
  readonly seen?: JsonValue | undefined
}

export interface ReviewRequest {
  readonly cells: readonly ReviewedCell[]
  /** Null ends the reviews of the cells. */
  readonly verdict: Verdict | null
  readonly note: string | null
  readonly actor: string
}
