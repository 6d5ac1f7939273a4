import { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../../query-limits.ts'

/** Limits for tests that are not about the deadline of queries, which a busy machine must not reach. */
export const PATIENT_LIMITS: QueryLimits = { ...DEFAULT_QUERY_LIMITS, timeoutMs: 60_000 }
