/** Limits of a host for all processes together. Times are milliseconds. */
export interface HostLimits {
  /** Concurrent calls. */
  readonly concurrency: number
  /** Null for no bound. */
  readonly rate: SlotRate | null
}

/** A rate as evenly spaced slots, each for one request. */
export interface SlotRate {
  readonly spacingMs: number
  /** Milliseconds after its slot at which a request may still be sent. */
  readonly playMs: number
}

/** A pause that a host has asked for. */
export interface SharedPause {
  /** The status of its response. */
  readonly status: number
  /** The length that it asked for, and the rest of it. */
  readonly askedMs: number
  readonly leftMs: number
}

/** The caller of a host in a process. Its methods must not throw. */
export interface HostListener {
  /** Returns the number of waiting calls that could begin with a permit. */
  waiting(): number
  /** Returns the number of waiting requests, including those that begin a call. */
  requests(): number
  /** Reports that more permits or slots may be available. */
  onChange(): void
  /** Reports a pause that this or another process was asked for. */
  onPause(pause: SharedPause): void
  /** Reports the end of the pause. */
  onPauseEnd(): void
}

/**
 * A process' share of the limits of a host. No method waits: missing permits and slots are requested, and the listener is
 * called when they arrive. While the store is unavailable there are none.
 */
export interface HostShare {
  /** Sets the limits from now on. */
  setLimits(limits: HostLimits): void
  /** Whether a permit is free, so that one more call may begin. */
  hasPermit(): boolean
  /** Returns the milliseconds until a request may be sent; Infinity when that is not known yet. */
  slotWait(): number
  /** Takes a permit for a call that begins. */
  begin(): void
  /** Returns the permit of a call that has ended. */
  end(): void
  /** Takes the slot that {@link slotWait} has waited for; returns a function that tells whether it has lapsed. */
  takeSlot(): () => boolean
  /** Reports that the host has asked, with this status, for a pause of so many milliseconds. */
  pause(ms: number, status: number): void
  /** Reports that the host has answered the call that checks whether the pause is over. */
  endPause(): void
  /** Ends the share after the last call. */
  leave(): void
}

/**
 * Limits of hosts for all processes with the store together. Where only processes of one machine share a store there are
 * none, and each process has its own limits.
 */
export interface SharedHosts {
  /** Joins the calls to an origin (scheme, host and port). */
  join(origin: string, listener: HostListener): HostShare
}
