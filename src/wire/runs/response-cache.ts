import type { ResponsesSummary, TrimResult } from '../../store/stored-responses.ts'

/** The output of `colophon cache`. */
export interface KeptResponsesAnswer {
  readonly responses: number
  readonly bytes: number
  readonly max_bytes: number
  /** Bytes of the recording of calls; `max_bytes` holds for it by itself. */
  readonly recorded_bytes: number
  readonly oldest: string | null
  readonly newest: string | null
  /** The number of removed responses; absent when removal was not requested. */
  readonly removed?: number
  readonly removed_bytes?: number
}

/** Converts the summary of kept and of removed responses to the wire format. */
export function toKeptResponsesAnswer(
  { count, bytes, limit, recordedBytes, oldest, newest }: ResponsesSummary,
  removed: TrimResult | null,
): KeptResponsesAnswer {
  const kept = { responses: count, bytes, max_bytes: limit, recorded_bytes: recordedBytes, oldest, newest }
  return removed === null ? kept : { ...kept, removed: removed.removed, removed_bytes: removed.bytes }
}
