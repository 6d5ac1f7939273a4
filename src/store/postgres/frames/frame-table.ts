import type { StoredFrame } from '../../shared-frames.ts'
import type { Connection } from '../database/connection.ts'
import { timeText } from '../database/database-clock.ts'
import { channelOf } from '../database/notifications.ts'

/** A frame of this process that is not stored yet. */
export interface NewFrame {
  readonly stream: string
  readonly json: string
  /** Ascends within each process. */
  readonly number: number
}

/** Limits on the frames that are kept: their number, bytes and age. */
export interface KeptFrames {
  readonly frames: number
  readonly bytes: number
  readonly milliseconds: number
}

/** The most frames, and bytes of them, that are read at once; a larger frame is read alone. */
const PAGE_FRAMES = 64
const PAGE_BYTES = 4 * 1024 * 1024

/** Consecutive frames of some streams; see `FramePage`. */
export interface StreamsPage {
  readonly frames: readonly (StoredFrame & { readonly stream: string })[]
  readonly upTo: number
  readonly whole: boolean
  readonly missedUpTo: number | null
}

/** Returns the channel on which listeners of a sheet are notified of new frames. */
export function frameChannel(schema: string): string {
  return channelOf('frames', schema)
}

/**
 * A frame whose time is replaced by that of the database's clock, where it begins with one, so that the times of several
 * processes are in order.
 */
const STAMPED = `regexp_replace(frame, '^([{]"kind":"[a-z.]+","ts":")[^"]+', '\\1' || ${timeText()})`

/**
 * Assigns ids under a row lock that is held until the commit. So they are dense, and a reader of a frame sees all frames
 * before it. The notification contains only an id: any user of the database can listen to it, and frames contain cell
 * values.
 */
const ADD = `
  WITH numbered AS (UPDATE "$feed" SET last = last + cardinality($2::bigint[]) RETURNING last - cardinality($2::bigint[]) AS before),
  added AS (
    INSERT INTO "$frame" (id, stream, frame, bytes, source, number)
    SELECT before + place, stream, ${STAMPED}, octet_length(frame), $1, number
    FROM numbered, unnest($3::text[], $4::text[], $2::bigint[]) WITH ORDINALITY AS given (stream, frame, number, place)
  )
  SELECT before + cardinality($2::bigint[]) AS last,
    pg_notify($5, (before + cardinality($2::bigint[]))::text)::text FROM numbered`

/** Stores frames of a process in their order and notifies all listeners; returns the id of the last. */
export async function addFrames(
  db: Connection,
  { schema, source }: { readonly schema: string; readonly source: string },
  frames: readonly NewFrame[],
): Promise<number> {
  const row = await db.get(
    ADD,
    source,
    frames.map(({ number }) => number),
    frames.map(({ stream }) => stream),
    frames.map(({ json }) => json),
    frameChannel(schema),
  )
  return Number(row?.['last'])
}

/** Returns the highest number of a process' frames that is stored, after its transactions have ended; 0 for none. */
export async function lastNumberOf(db: Connection, source: string): Promise<number> {
  // A transaction whose response was lost may still be under way; it holds the lock of this row.
  await db.get('SELECT last FROM "$feed" FOR UPDATE')
  const row = await db.get('SELECT max(number) AS number FROM "$frame" WHERE source = $1', source)
  return Number(row?.['number'] ?? 0)
}

/** Returns the last id that was assigned; 0 for none. */
export async function lastFrame(db: Connection): Promise<number> {
  return Number((await db.get('SELECT last FROM "$feed"'))?.['last'])
}

/** A single statement, so that missing and present frames are of the same state of the store. */
const PAGE = `
  SELECT feed.last, kept.first, part.id, part.stream, part.frame, part.found
  FROM "$feed" AS feed
  CROSS JOIN (SELECT min(id) AS first FROM "$frame") AS kept
  LEFT JOIN LATERAL (
    SELECT id, stream, frame, found FROM (
      SELECT id, stream, frame, count(*) OVER () AS found, sum(bytes) OVER (ORDER BY id) - bytes AS before
      FROM (SELECT * FROM "$frame" WHERE id > $1 AND stream = ANY($2) ORDER BY id LIMIT ${PAGE_FRAMES}) AS next
    ) AS summed WHERE before < ${PAGE_BYTES}
  ) AS part ON true
  ORDER BY part.id`

/** Reads the frames of some streams after an id. */
export async function readFrames(
  db: Connection,
  streams: readonly string[],
  after: number,
): Promise<StreamsPage> {
  const rows = await db.all(PAGE, after, streams)
  const last = Number(rows[0]?.['last'])
  if (after > last) return { frames: [], upTo: last, whole: true, missedUpTo: last }
  const first = rows[0]?.['first'] ?? null
  const gapEnd = first === null ? last : Number(first) - 1
  const frames = rows.flatMap(({ id, stream, frame }) =>
    id === null || id === undefined ? [] : [{ id: Number(id), stream: String(stream), json: String(frame) }],
  )
  const whole = frames.length < PAGE_FRAMES && frames.length === Number(rows[0]?.['found'] ?? 0)
  const upTo = whole ? last : (frames.at(-1)?.id ?? last)
  return { frames, upTo, whole, missedUpTo: gapEnd > after ? gapEnd : null }
}

const PRUNE = `
  DELETE FROM "$frame" WHERE id <= (
    SELECT max(id) FROM (
      SELECT id, at, row_number() OVER newer AS place, sum(bytes) OVER newer - bytes AS after
      FROM "$frame" WINDOW newer AS (ORDER BY id DESC)
    ) AS frame
    WHERE place > $1 OR after >= $2 OR at < now() - make_interval(secs => $3)
  )`

/** Deletes the oldest frames beyond the limits, without gaps. */
export async function pruneFrames(
  db: Connection,
  { frames, bytes, milliseconds }: KeptFrames,
): Promise<void> {
  await db.run(PRUNE, frames, bytes, milliseconds / 1000)
}

/** Deletes all frames, with the values in them; who has not read them is told so, as of those that are too old. */
export async function deleteFrames(db: Connection): Promise<void> {
  await db.run('DELETE FROM "$frame"')
}
