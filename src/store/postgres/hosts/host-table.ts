import { escapeLiteral } from 'pg'
import type { SharedPause, SlotRate } from '../../shared-hosts.ts'
import type { ClientConnection, Connection, StoredRow } from '../database/connection.ts'

/** A process that has not been heard of for so many beats, of a second or more each, has its places no longer. */
const LEASE_BEATS = 5
const HEARTBEAT_MS = 1000

/** Nor has one that has not been heard of for so long: beats stand still while nobody calls the host. */
const FORGOTTEN_MS = 60_000

/** Where there are fewer places than processes that want one, whoever has got one may keep it for so long. */
const TURN_MS = 1000

const NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::float8`

/** What a process says of its part in the calls to a host. */
export interface PartNote {
  readonly host: number
  readonly holder: string
  /** Calls at a time that all may make together. */
  readonly limit: number
  /** Places that it goes on with; no more than it was given. */
  readonly kept: number
  /** Calls that are under way; the places of a process that was not heard of for too long. */
  readonly underWay: number
  /** Places that it could use, those that it has among them. */
  readonly wanted: number
}

/** What it is told. */
export interface PartAnswer {
  readonly places: number
  /** Places that it is due. */
  readonly due: number
  /** Places that the others leave. Of its own, those beyond this or {@link due} are to be given back when their calls are over. */
  readonly left: number
  /** Whether others have fewer places than they are due. */
  readonly othersShort: boolean
  /** Counts what the host has said. */
  readonly pauseNumber: number
  readonly pause: SharedPause
}

/** The number of the row of an origin, which is made if there is none. */
export async function hostNumber(db: Connection, origin: string): Promise<number> {
  const find = 'SELECT id FROM "$host" WHERE origin = $1'
  const known = await db.get(find, origin)
  if (known !== undefined) return Number(known['id'])
  await db.run('INSERT INTO "$host" (origin) VALUES ($1) ON CONFLICT DO NOTHING', origin)
  return Number((await db.get(find, origin))?.['id'])
}

/**
 * Renews a process' part, and gives it what it is due of the places that are free. Nobody is ever given a place that another
 * has. All in one message: whoever is halted in between does not keep the others waiting. Null when the host's row is gone.
 */
export async function renewPart(db: ClientConnection, note: PartNote): Promise<PartAnswer | null> {
  const [row] = await db.execForRows(renewal(note))
  if (row === undefined) return null
  return {
    places: Number(row['places']),
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
 * Places are dealt out one by one, in rounds, to those who want another. For the last round there may be too few: they go to
 * those who have just got theirs, then to who has waited for the longest, then to those who have had theirs for long.
 */
function renewal({ host: number, holder, limit, kept, underWay, wanted }: PartNote): string {
  const [host, me] = [Math.trunc(number), escapeLiteral(holder)]
  const [most, keeps, uses, wants] = [limit, kept, underWay, wanted].map(Math.trunc)
  return `
    SELECT FROM "$host" WHERE id = ${host} FOR UPDATE;
    UPDATE "$host" SET beat = beat + 1, beat_at = ${NOW} WHERE id = ${host} AND abs(${NOW} - beat_at) >= ${HEARTBEAT_MS};
    DELETE FROM "$host_part" AS part USING "$host"
    WHERE part.host = ${host} AND id = ${host}
      AND (part.beat < "$host".beat - ${LEASE_BEATS} OR renewed_at < ${NOW} - ${FORGOTTEN_MS});
    INSERT INTO "$host_part" AS part (host, holder, places, wanted, since, beat, renewed_at)
    SELECT id, ${me}, ${uses}, ${wants}, ${NOW}, beat, ${NOW} FROM "$host" WHERE id = ${host}
    ON CONFLICT (host, holder) DO UPDATE SET places = ${keeps}, wanted = excluded.wanted, beat = excluded.beat,
      renewed_at = excluded.renewed_at, since = CASE part.places WHEN ${keeps} THEN part.since ELSE excluded.since END;
    WITH dealt AS (
      SELECT holder, count(*)::int AS due FROM (
        SELECT holder FROM "$host_part", generate_series(1, wanted) AS round WHERE host = ${host}
        ORDER BY round,
          CASE WHEN places < round THEN 1 WHEN since > ${NOW} - ${TURN_MS} THEN 0 ELSE 2 END,
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
    FROM given, "$host" AS told WHERE host = ${host} AND holder = ${me} AND id = ${host}
    RETURNING part.places, due, left_over, short AS others_short, pause_number, pause_status, pause_ms, pause_until - ${NOW} AS pause_left`
}

/** Gives the places of a process back. */
export async function leaveHost(db: Connection, host: number, holder: string): Promise<void> {
  await db.run('DELETE FROM "$host_part" WHERE host = $1 AND holder = $2', host, holder)
}

/** The same at all hosts. */
export async function leaveAll(db: Connection, holder: string): Promise<void> {
  await db.run('DELETE FROM "$host_part" WHERE holder = $1', holder)
}

/** Moments that were given out. */
export interface Slots {
  /** The last; those before it are `spacingMs` apart. Times of the database's clock. */
  readonly last: number
  /** What the database's clock showed. */
  readonly now: number
}

/** Takes the next moments for so many requests. Null when the host's row is gone. */
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

/** Notes what a host has said, unless it has asked for no less before. */
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

/** Notes that a host does not want to be left alone any more. */
export async function notePauseEnd(db: Connection, host: number): Promise<void> {
  await db.run(
    `UPDATE "$host" SET pause_number = pause_number + 1, pause_until = 0 WHERE id = $1 AND pause_until > ${NOW}`,
    host,
  )
}
