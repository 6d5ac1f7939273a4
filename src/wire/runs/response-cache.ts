import type { ResponsesSummary, TrimResult } from '../../store/stored-responses.ts'

/** What `colophon cache` says of the responses that a sheet keeps. */
export interface KeptResponsesAnswer {
  readonly responses: number
  readonly bytes: number
  readonly max_bytes: number
  readonly oldest: string | null
  readonly newest: string | null
  /** How many were removed; absent where nothing was to be. */
  readonly removed?: number
  readonly removed_bytes?: number
}

/** Turns what is kept, and what was removed, into its wire form. */
export function toKeptResponsesAnswer(
  { count, bytes, limit, oldest, newest }: ResponsesSummary,
  removed: TrimResult | null,
): KeptResponsesAnswer {
  const kept = { responses: count, bytes, max_bytes: limit, oldest, newest }
  return removed === null ? kept : { ...kept, removed: removed.removed, removed_bytes: removed.bytes }
}
