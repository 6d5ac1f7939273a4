import type { Query, QueryRow, Statement } from '../../rows/query.ts'
import type { RecordedPage, ResponseTrim } from '../../stored-responses.ts'
import { load, type Loaded, type Steps } from '../steps.ts'

/**
 * Creates the table of the recording. `place`: the bytes that the recording has had up to the end of the line, so that sizes are differences
 * of places, and the oldest lines are found by the key. `at`: milliseconds since 1970.
 */
export function recordingTable({
  integer,
  text,
  options,
}: {
  readonly integer: string
  readonly text: string
  readonly options: string
}): string {
  return `
  CREATE TABLE "$recorded" (
    place ${integer} NOT NULL PRIMARY KEY, at ${integer} NOT NULL, line ${text} NOT NULL
  ) ${options};
  `
}

/** The connection of an engine, in a transaction that no other change of the store overlaps. */
interface RecordingDatabase {
  query<T>(query: Query<T>): Loaded<T>
  change(statement: Statement): Loaded<number>
}

/** Lines that one statement inserts. */
const ROWS_AT_ONCE = 32

/** Bytes of lines that are read at a time; one line may have more. */
const BYTES_AT_ONCE = 4 << 20

/** Adds lines, but for those that exceed the limit by themselves, and removes the oldest beyond the limit, to within a line. `at`: milliseconds since 1970. */
export function* addLines(
  db: RecordingDatabase,
  { lines, at, limit }: { readonly lines: readonly string[]; readonly at: number; readonly limit: number },
): Steps<void> {
  const sized = lines.map((line) => ({ line, bytes: Buffer.byteLength(line) }))
  const added = sized.filter(({ bytes }) => bytes <= limit)
  if (added.length === 0) return
  let place = yield* load(db.query(LAST_PLACE))
  for (let start = 0; start < added.length; start += ROWS_AT_ONCE) {
    const params = added.slice(start, start + ROWS_AT_ONCE).flatMap(({ line, bytes }) => {
      place += bytes
      return [place, line]
    })
    const rows = Array.from(
      { length: params.length / 2 },
      (_, row) => `(?${2 * row + 2}, ?1, ?${2 * row + 3})`,
    )
    const sql = `INSERT INTO "$recorded" (place, at, line) VALUES ${rows.join(', ')}`
    yield* load(db.change({ sql, params: [at, ...params] }))
  }
  yield* load(db.change(removeUpTo(place - limit)))
}

/** Removes the lines that were stored before a time, and the oldest of the others beyond a size. */
export function* trimLines(db: RecordingDatabase, { before, maxBytes }: ResponseTrim): Steps<void> {
  if (before !== null)
    yield* load(db.change({ sql: 'DELETE FROM "$recorded" WHERE at < ?1', params: [Date.parse(before)] }))
  if (maxBytes === null) return
  const last = yield* load(db.query(LAST_PLACE))
  yield* load(db.change(removeUpTo(last - maxBytes)))
}

/** Returns the place of the last line; 0 for none. */
export const LAST_PLACE: Query<number> = {
  sql: 'SELECT max(place) AS place FROM "$recorded"',
  params: [],
  result: ([row]) => Number(row?.['place'] ?? 0),
}

/** Removes the lines that end before a place, or there: of the one around it, as of the rest, the whole is kept. */
function removeUpTo(place: number): Statement {
  return { sql: 'DELETE FROM "$recorded" WHERE place <= ?1', params: [place] }
}

/** Returns the bytes of all lines. */
export const RECORDED_BYTES: Query<number> = {
  sql: `SELECT (SELECT max(place) FROM "$recorded") - place + octet_length(line) AS bytes
    FROM "$recorded" ORDER BY place LIMIT 1`,
  params: [],
  result: ([row]) => Number(row?.['bytes'] ?? 0),
}

/** Returns lines after a place, see `ResponseStore.recorded`. */
export function linesAfter(place: number): Query<RecordedPage> {
  return {
    sql: `SELECT place, at, line FROM "$recorded" WHERE place > ?1
      AND place <= (SELECT min(place) FROM "$recorded" WHERE place > ?1) + ${BYTES_AT_ONCE} ORDER BY place`,
    params: [place],
    result: (rows) => ({
      lines: rows.map(({ place: own, at, line }) => ({
        place: Number(own),
        line: String(line),
        at: timeOf(at),
      })),
      next: Number(rows.at(-1)?.['place'] ?? place),
    }),
  }
}

function timeOf(at: QueryRow[string]): string {
  return new Date(Number(at)).toISOString()
}
