/**
 * What the service tells its subscribers (specification, "Frame kinds"): a closed union, so that a new kind does not
 * compile until everybody who renders frames knows it. `ts` is UTC with milliseconds and `Z` (D40).
 */
export type Frame = MaterializeStartFrame | MaterializeEndFrame | MaterializeErrorFrame

/** A frame with its place among those that servers share; without one where frames are told by one process alone. */
export type Placed<F> = F & { readonly eventId?: number }

/**
 * Frames were told that are not kept any more, and that this subscriber has not had: it reads what it shows anew. Only where
 * servers share their frames.
 */
export interface FramesMissed {
  readonly kind: 'frames.missed'
}

/** A run has begun and is about to wait for its lock. */
export interface MaterializeStartFrame {
  readonly kind: 'materialize.start'
  readonly ts: string
  readonly actor: string
  /** The target fields the request names, or null when it does not filter. */
  readonly targets: readonly string[] | null
  /** The records the request names, or null when it does not filter. */
  readonly recordIds: readonly string[] | null
  readonly force: boolean
}

/** A run has finished; failed cells do not keep it from that. */
export interface MaterializeEndFrame {
  readonly kind: 'materialize.end'
  readonly ts: string
  readonly actor: string
  /** Cells computed. */
  readonly materialized: number
  /** Cells not recomputed. */
  readonly skipped: number
  /** The number of entries in the envelope's list of failures. */
  readonly failures: number
  readonly totalCost: number
}

/** A run was aborted; no `materialize.end` follows. */
export interface MaterializeErrorFrame {
  readonly kind: 'materialize.error'
  readonly ts: string
  readonly actor: string
  readonly errorType: string
  readonly message: string
}
