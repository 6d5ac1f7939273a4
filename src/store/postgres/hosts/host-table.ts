import { escapeLiteral } from 'pg'
import type { SharedPause, SlotRate } from '../../shared-hosts.ts'
import type { ClientConnection, Connection, StoredRow } from '../database/connection.ts'

/** A process loses its permits after so many heartbeats of the host, of at least a second each, without a renewal. */
const LEASE_HEARTBEATS = 5
const HEARTBEAT_MS = 1000

/** It also loses them after so many milliseconds: the host has heartbeats only while somebody calls it. */
const EXPIRY_MS = 60_000

/** The milliseconds for which a process may keep a new permit if there are fewer permits than processes that want one. */
const MIN_HELD_MS = 1000

const NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::float8`

/** The state that a process reports about its share of the calls to a host. */
export interface ShareReport {
  readonly host: number
  readonly holder: string
  /** Concurrent calls that all processes together may make. */
  readonly limit: number
  /** The permits that it keeps, at most those that it was given. */
  readonly kept: number
  /** Its calls under way, which are its permits after its share has lapsed. */
  readonly underWay: number
  /** The permits that it could use, including those that it has. */
  readonly wanted: number
}

/** The share that a process is given. */
export interface RenewedShare {
  readonly permits: number
  /** Its fair share of the permits. */
  readonly due: number
  /** The permits that the others leave. Its own permits beyond this or {@link due} are to be returned as calls end. */
  readonly left: number
  /** Whether others have fewer permits than they are due. */
  readonly othersShort: boolean
  /** Ascends with each pause and each end of one. */
  readonly pauseNumber: number
  readonly pause: SharedPause
}

/** Returns the number of an origin's row, which is created if needed. */
export async function hostNumber(db: Connection, origin: string): Promise<number> {
  const find = 'SELECT id FROM "$host" WHERE origin = $1'
  const known = await db.get(find, origin)
  if (known !== undefined) return Number(known['id'])
  await db.run('INSERT INTO "$host" (origin) VALUES ($1) ON CONFLICT DO NOTHING', origin)
  return Number((await db.get(find, origin))?.['id'])
}

/**
 * Renews the share of a process, and gives it free permits up to its due. No permit is ever given to two processes. The
 * statements are sent in one message, so that a process that is halted cannot keep the others waiting. Returns null when
 * the row of the host does not exist.
 */
export async function renewShare(db: ClientConnection, report: ShareReport): Promise<RenewedShare | null> {
  const [row] = await db.execForRows(renewal(report))
  if (row === undefined) return null
  return {
    permits: Number(row['places']),
    due: Number(row['due']),
    left: Number(row['left_over']),
    othersShort: row['others_short'] === true,
    pauseNumber: Number(row['pause_number']),
    pause: pauseOf(row),
  }
}

function pauseOf(row: StoredRow): SharedPause {
  return {
    status: Number(row['pause_status']),
    askedMs: Number(row['pause_ms']),
    leftMs: Math.max(0, Number(row['pause_left'])),
  }
}

/**
 * Returns statements that deal out permits one by one, in rounds, to the processes that want another. When the last round
 * has too few, those who have just received theirs come first, then who has waited longest, then those who have had theirs
 * for long.
 */
function renewal({ host: number, holder, limit, kept, underWay, wanted }: ShareReport): string {
  const [host, me] = [Math.trunc(number), escapeLiteral(holder)]
  const [most, keeps, uses, wants] = [limit, kept, underWay, wanted].map(Math.trunc)
  return `
    SELECT FROM "$host" WHERE id = ${host} FOR UPDATE;
    UPDATE "$host" SET beat = beat + 1, beat_at = ${NOW} WHERE id = ${host} AND abs(${NOW} - beat_at) >= ${HEARTBEAT_MS};
    DELETE FROM "$host_part" AS part USING "$host"
    WHERE part.host = ${host} AND id = ${host}
      AND (part.beat < "$host".beat - ${LEASE_HEARTBEATS} OR renewed_at < ${NOW} - ${EXPIRY_MS});
    INSERT INTO "$host_part" AS part (host, holder, places, wanted, since, beat, renewed_at)
    SELECT id, ${me}, ${uses}, ${wants}, ${NOW}, beat, ${NOW} FROM "$host" WHERE id = ${host}
    ON CONFLICT (host, holder) DO UPDATE SET places = ${keeps}, wanted = excluded.wanted, beat = excluded.beat,
      renewed_at = excluded.renewed_at, since = CASE part.places WHEN ${keeps} THEN part.since ELSE excluded.since END;
    WITH dealt AS (
      SELECT holder, count(*)::int AS due FROM (
        SELECT holder FROM "$host_part", generate_series(1, wanted) AS round WHERE host = ${host}
        ORDER BY round,
          CASE WHEN places < round THEN 1 WHEN since > ${NOW} - ${MIN_HELD_MS} THEN 0 ELSE 2 END,
          CASE WHEN places < round THEN since ELSE -since END, holder
        LIMIT ${most}
      ) AS place GROUP BY holder
    ),
    others AS (
      SELECT coalesce(sum(places), 0)::int AS have, coalesce(bool_or(places < due), false) AS short
      FROM "$host_part" LEFT JOIN dealt USING (holder) WHERE host = ${host} AND holder <> ${me}
    ),
    mine AS (
      SELECT (coalesce(sum(due) FILTER (WHERE holder = ${me}), 0) + ${most} - coalesce(sum(due), 0))::int AS due FROM dealt
    ),
    given AS (
      SELECT greatest(places, least(due, ${most} - have)) AS places, due, ${most} - have AS left_over, short
      FROM "$host_part", mine, others WHERE host = ${host} AND holder = ${me}
    )
    UPDATE "$host_part" AS part
    SET places = given.places, since = CASE part.places WHEN given.places THEN since ELSE ${NOW} END
    FROM given, "$host" AS called WHERE host = ${host} AND holder = ${me} AND id = ${host}
    RETURNING part.places, due, left_over, short AS others_short, pause_number, pause_status, pause_ms, pause_until - ${NOW} AS pause_left`
}

/** Returns the permits of a process at one host. */
export async function leaveHost(db: Connection, host: number, holder: string): Promise<void> {
  await db.run('DELETE FROM "$host_part" WHERE host = $1 AND holder = $2', host, holder)
}

/** Returns the permits of a process at all hosts. */
export async function leaveAll(db: Connection, holder: string): Promise<void> {
  await db.run('DELETE FROM "$host_part" WHERE holder = $1', holder)
}

/** A batch of slots. */
export interface Slots {
  /** The last slot, by the database's clock; those before it are `spacingMs` apart. */
  readonly last: number
  /** The time of the database's clock. */
  readonly now: number
}

/** Reserves the next slots. Returns null when the row of the host does not exist. */
export async function takeSlots(
  db: Connection,
  host: number,
  { count, spacingMs }: Pick<SlotRate, 'spacingMs'> & { readonly count: number },
): Promise<Slots | null> {
  const row = await db.get(
    `UPDATE "$host" SET last_slot = greatest(last_slot + $2::float8, ${NOW}) + $3::float8 WHERE id = $1
     RETURNING last_slot, ${NOW} AS now`,
    host,
    spacingMs,
    (count - 1) * spacingMs,
  )
  return row === undefined ? null : { last: Number(row['last_slot']), now: Number(row['now']) }
}

/** Stores that a host has asked for a pause, unless a longer one is stored. */
export async function notePause(db: Connection, host: number, pause: SharedPause): Promise<void> {
  await db.run(
    `UPDATE "$host" SET pause_number = pause_number + 1, pause_until = ${NOW} + $2::float8, pause_ms = $3, pause_status = $4
     WHERE id = $1 AND pause_until < ${NOW} + $2::float8`,
    host,
    pause.leftMs,
    pause.askedMs,
    pause.status,
  )
}

/** Stores that the pause of a host has ended. */
export async function notePauseEnd(db: Connection, host: number): Promise<void> {
  await db.run(
    `UPDATE "$host" SET pause_number = pause_number + 1, pause_until = 0 WHERE id = $1 AND pause_until > ${NOW}`,
    host,
  )
}
