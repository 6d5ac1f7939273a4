/**
 * The SQL of the time of the database's clock as texts of times are everywhere: UTC, with milliseconds and `Z`. `shift` is what is added,
 * such as `- interval '1 second'`.
 */
export function timeText(shift = ''): string {
  return `to_char((clock_timestamp() ${shift}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** How much two clocks may drift apart, as part of the time. */
const DRIFT = 1e-4

/**
 * What this process' clock shows at times of the database's, as exactly as the quickest of the latest answers tells it: when
 * the database looked at its clock it was no earlier here than the question, and no later than the answer.
 */
export class DatabaseClock {
  #earliest = -Infinity
  #latest = Infinity
  #notedAt = 0

  /** The database's clock showed `time` between two times of this one's. */
  note(time: number, asked: number, answered: number): void {
    const drift = (answered - this.#notedAt) * DRIFT
    this.#notedAt = answered
    this.#earliest = Math.max(this.#earliest - drift, asked - time)
    this.#latest = Math.min(this.#latest + drift, answered - time)
    if (this.#earliest <= this.#latest) return
    // One of the clocks has been set.
    this.#earliest = asked - time
    this.#latest = answered - time
  }

  /** What this process' clock shows then; something has been noted before. */
  here(time: number): number {
    return time + (this.#earliest + this.#latest) / 2
  }
}
