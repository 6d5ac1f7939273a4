/**
 * The frames that subscribers receive (`docs/reference/events.md`): a closed union, so that every renderer of frames must handle a new
 * kind to compile. `ts` is UTC with milliseconds and `Z` (D40).
 */
export type Frame = MaterializeStartFrame | MaterializeEndFrame | MaterializeErrorFrame

/** A frame with its position among the frames that servers share; without one if only this process publishes it. */
export type Placed<F> = F & { readonly eventId?: number }

/**
 * Frames that this subscriber has not received are no longer stored: it must read its data again. Only where servers share their frames.
 */
export interface FramesMissed {
  readonly kind: 'frames.missed'
}

/** A run was accepted and is about to wait for its lock. */
export interface MaterializeStartFrame {
  readonly kind: 'materialize.start'
  readonly ts: string
  readonly actor: string
  /** The target fields that the request names, or null if it does not filter. */
  readonly targets: readonly string[] | null
  /** The records that the request names, or null if it does not filter. */
  readonly recordIds: readonly string[] | null
  readonly force: boolean
}

/** A run has finished; failed cells do not prevent that. */
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
