import { entryTime, LINE_START } from '../../rows/entry-time.ts'
import { textOrNull } from '../../rows/stored-rows.ts'
import type { Connection, StoredRow } from './connection.ts'

/**
 * The SQL of the time of the database's clock as texts of times are everywhere: UTC, with milliseconds and `Z`. `shift` is what is added,
 * such as `- interval '1 second'`.
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

/** The same, asked for. */
export async function readEntryTime(db: Connection): Promise<string> {
  return entryTimeOf(await db.get(`SELECT ${ENTRY_TIME}`))
}

/** Returns what the database's clock shows: UTC with milliseconds. */
export async function readTime(db: Connection): Promise<string> {
  return String((await db.get(`SELECT ${timeText()} AS now`))?.['now'])
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
