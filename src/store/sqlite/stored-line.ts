import type { JsonObject } from '../../contract/json.ts'
import { parseStored, wholeLine } from '../../provenance/log-line.ts'
import type { StoredRow } from './connection.ts'

/** The text of the log's line that a row of the provenance table stands for. */
export function lineOf({ line }: StoredRow): string {
  return wholeLine(String(line))
}

/** What that line says; null when it is no line of a provenance log, and for no row. */
export function parsedLineOf(row: StoredRow | undefined): JsonObject | null {
  return row === undefined ? null : parseStored(String(row['line']))
}
