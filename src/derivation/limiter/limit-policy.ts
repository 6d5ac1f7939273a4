/** The limits of calls to a resource. */
export interface LimitPolicy {
  /** Most calls at a time. */
  readonly concurrency: number
  /** Most tries that begin within any `perMs` milliseconds; null for no bound. */
  readonly rateLimit: RateLimit | null
  /** Further tries after one that failed for a temporary reason. */
  readonly retries: number
}

export interface RateLimit {
  readonly calls: number
  readonly perMs: number
}

/** The limits of a resource that has no others. */
export const DEFAULT_LIMITS: LimitPolicy = { concurrency: 8, rateLimit: null, retries: 0 }
