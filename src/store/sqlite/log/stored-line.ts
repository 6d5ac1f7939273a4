import type { JsonObject } from '../../../contract/json/json.ts'
import { parseStored, wholeLine, type StoredLine } from '../../../provenance/log-line.ts'
import type { StoredRow } from '../database/connection.ts'

/** Bytes from which on a line is read as bytes, which SQLite copies several times as fast as it makes text of them. */
const LONG_LINE_BYTES = 64 << 10

/** The SQL expression of a line for {@link storedLineOf}. */
export const STORED_LINE = `iif(octet_length(line) < ${LONG_LINE_BYTES}, line, CAST(line AS BLOB))`

/** A line that was read by {@link STORED_LINE}. */
export function storedLineOf({ line }: StoredRow): StoredLine {
  return line instanceof Uint8Array ? line : String(line)
}

/** The text of the log's line that a row of the provenance table stands for. */
export function lineOf({ line }: StoredRow): string {
  return wholeLine(String(line))
}

/** What that line says; null when it is no line of a provenance log, and for no row. */
export function parsedLineOf(row: StoredRow | undefined): JsonObject | null {
  return row === undefined ? null : parseStored(String(row['line']))
}
