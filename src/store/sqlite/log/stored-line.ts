import type { JsonObject } from '../../../contract/json/json.ts'
import { parseStored, wholeLine } from '../../../provenance/log-line.ts'
import type { StoredRow } from '../database/connection.ts'

/** Bytes of a line or value from which on the reading thread reads it instead of the main thread. */
export const LONG_BYTES: number = 64 << 10

/** The SQL expression of the text of a line, null where it is long: then SQLite reads only its length. */
export const SHORT_LINE: string = `iif(octet_length(line) < ${LONG_BYTES}, line, NULL)`

/** Returns the line of the log from a row of the provenance table. */
export function lineOf({ line }: StoredRow): string {
  return wholeLine(String(line))
}

/** Parses the line of a row; null when it is not a line of a provenance log, and for no row. */
export function parsedLineOf(row: StoredRow | undefined): JsonObject | null {
  return row === undefined ? null : parseStored(String(row['line']))
}
