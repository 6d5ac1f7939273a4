/** What all processes together may do at a host. Times are milliseconds. */
export interface HostLimits {
  /** Calls at a time. */
  readonly concurrency: number
  /** Null for no bound. */
  readonly rate: SlotRate | null
}

/** A rate as moments that are evenly spaced, each for one request. */
export interface SlotRate {
  readonly spacingMs: number
  /** How long after its moment a request may still go out. */
  readonly playMs: number
}

/** That a host wants to be left alone. */
export interface SharedPause {
  /** The status that it said so with. */
  readonly status: number
  /** For how long it asked, and how much of that is left. */
  readonly askedMs: number
  readonly leftMs: number
}

/** Whoever makes a process' calls to a host. Its methods must not throw. */
export interface HostListener {
  /** How many calls wait that could begin, were there room. */
  waiting(): number
  /** How many requests wait, those among them that begin a call. */
  requests(): number
  /** There may be more room than before. */
  onChange(): void
  /** Somebody has been told, perhaps here, that the host wants to be left alone. */
  onPause(pause: SharedPause): void
  /** It wants that no longer. */
  onPauseEnd(): void
}

/**
 * A process' part in what all may do at a host. Nothing here waits: what is not there is asked for, and the listener hears
 * when it has come. While the store is away there is nothing.
 */
export interface HostShare {
  /** Sets the limits that hold from now on. */
  setLimits(limits: HostLimits): void
  /** Whether one more call may begin, as far as calls at a time go. */
  hasPlace(): boolean
  /** How long until a request may go out; Infinity when that is not known yet. */
  slotWait(): number
  /** A call begins. */
  begin(): void
  /** A call that has begun is over. */
  end(): void
  /** Takes the moment that {@link slotWait} has waited for; answers with what tells whether it is over. */
  takeSlot(): () => boolean
  /** The host has said with this status that it wants to be left alone for so long. */
  pause(ms: number, status: number): void
  /** The host has answered a call that was to see whether it still wants that. */
  endPause(): void
  /** No more calls are made. */
  leave(): void
}

/**
 * Limits of hosts that hold for all processes with the store together. Where only processes of one machine share a store there
 * is no such thing, and each keeps the limits for itself.
 */
export interface SharedHosts {
  /** Takes part in the calls to an origin (scheme, host and port). */
  join(origin: string, listener: HostListener): HostShare
}
