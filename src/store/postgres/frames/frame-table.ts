import type { StoredFrame } from '../../shared-frames.ts'
import type { Connection } from '../database/connection.ts'
import { timeText } from '../database/database-clock.ts'
import { channelOf } from '../database/notifications.ts'

/** A frame of a process that is not stored yet. */
export interface NewFrame {
  readonly stream: string
  readonly json: string
  /** Counts up for each process. */
  readonly number: number
}

/** How many frames are kept at most, how many bytes of them, and for how long. */
export interface KeptFrames {
  readonly frames: number
  readonly bytes: number
  readonly milliseconds: number
}

/** Frames read at once, and bytes of them; a frame that is larger comes alone. */
const PAGE_FRAMES = 64
const PAGE_BYTES = 4 * 1024 * 1024

/** Frames of some streams that come one after the other; see `FramePage`. */
export interface StreamsPage {
  readonly frames: readonly (StoredFrame & { readonly stream: string })[]
  readonly upTo: number
  readonly whole: boolean
  readonly missedUpTo: number | null
}

/** The name under which listeners of a sheet hear that there are frames. */
export function frameChannel(schema: string): string {
  return channelOf('frames', schema)
}

/** A frame with the time of the database's clock instead of that of the process, where it begins with one: those of several are in one order. */
const STAMPED = `regexp_replace(frame, '^([{]"kind":"[a-z.]+","ts":")[^"]+', '\\1' || ${timeText()})`

/**
 * Ids are given out under the lock of a row that is held until the commit. So they are dense, and whoever sees a frame sees
 * all before it. The notification has no more than an id: any user of the database can listen to it, and frames hold what
 * cells hold.
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

/** Stores frames of a process, in their order, and tells all listeners that there are some; answers with the last's id. */
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

/** The highest number of a process' frames that is stored, once no transaction of its own is under way; 0 for none. */
export async function lastNumberOf(db: Connection, source: string): Promise<number> {
  // A transaction whose answer was lost may still be under way; it has this row.
  await db.get('SELECT last FROM "$feed" FOR UPDATE')
  const row = await db.get('SELECT max(number) AS number FROM "$frame" WHERE source = $1', source)
  return Number(row?.['number'] ?? 0)
}

/** The id that was given out last; 0 before the first. */
export async function lastFrame(db: Connection): Promise<number> {
  return Number((await db.get('SELECT last FROM "$feed"'))?.['last'])
}

/** One statement, and so one state of the store: what is missing is told of the same moment as what is there. */
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

/** The frames of some streams that come after an id. */
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

/** Deletes the oldest frames, and always all up to one of them. */
export async function pruneFrames(
  db: Connection,
  { frames, bytes, milliseconds }: KeptFrames,
): Promise<void> {
  await db.run(PRUNE, frames, bytes, milliseconds / 1000)
}
