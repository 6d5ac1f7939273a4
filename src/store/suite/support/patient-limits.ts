import { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../../query-limits.ts'

/** Limits for tests that are not about the deadline of queries: a busy machine may take its time. */
export const PATIENT_LIMITS: QueryLimits = { ...DEFAULT_QUERY_LIMITS, timeoutMs: 60_000 }
