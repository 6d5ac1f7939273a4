import { entryTime, LINE_START } from '../../rows/entry-time.ts'
import { textOrNull } from '../../rows/stored-rows.ts'
import type { Connection, StoredRow } from './connection.ts'

/**
 * Returns SQL for the time of the database's clock as text, UTC with milliseconds and `Z`. `shift` is added to it, such as
 * `- interval '1 second'`.
 */
export function timeText(shift = ''): string {
  return `to_char((clock_timestamp() ${shift}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The columns of {@link entryTimeOf}, of the state that a statement sees. */
export const ENTRY_TIME = `${timeText()} AS now,
  (SELECT substr(line, 1, ${LINE_START}) FROM "$provenance" ORDER BY seq DESC LIMIT 1) AS last_line`

/** Returns the time of an entry that is written now, by the database's clock; see {@link entryTime}. */
export function entryTimeOf(row: StoredRow | undefined): string {
  return entryTime(String(row?.['now']), textOrNull(row?.['last_line']))
}

/** Reads the columns and returns the time of an entry that is written now. */
export async function readEntryTime(db: Connection): Promise<string> {
  return entryTimeOf(await db.get(`SELECT ${ENTRY_TIME}`))
}

/** Returns what the database's clock shows: UTC with milliseconds. */
export async function readTime(db: Connection): Promise<string> {
  return String((await db.get(`SELECT ${timeText()} AS now`))?.['now'])
}

/** The drift to expect between two clocks, as a fraction of the time passed. */
const DRIFT = 1e-4

/**
 * Converts times of the database's clock to this process' clock, as exactly as the quickest of the latest responses allows:
 * the database read its clock after the request was sent and before the response arrived.
 */
export class DatabaseClock {
  #earliest = -Infinity
  #latest = Infinity
  #notedAt = 0

  /** Notes that the database's clock showed `time` between the times `asked` and `answered` of this process' clock. */
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

  /** Returns what this process' clock shows when the database's shows `time`. Call {@link note} first. */
  here(time: number): number {
    return time + (this.#earliest + this.#latest) / 2
  }
}
