import { zstdDecompressSync } from 'node:zlib'
import { linePartsOf } from '../../../provenance/imported-records.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import { MAX_LINE_BYTES } from '../../../provenance/read-lines.ts'
import { parseStored, wholeLine } from '../../../provenance/log-line.ts'
import type { StoredRow } from '../database/connection.ts'

/** Bytes of a line or value from which on the reading thread reads it instead of the main thread. */
export const LONG_BYTES: number = 64 << 10

/** The SQL expression of the text of a line, null where it is long: then SQLite reads only its length. */
export const SHORT_LINE: string = `iif(octet_length(line) < ${LONG_BYTES}, line, NULL)`

/** Selects the compressed rows of a line with imported records, null for any other line. */
export const PACKED = '(SELECT rows FROM "$packed" WHERE "$packed".seq = "$provenance".seq) AS packed'

/** Selects the parts of a line of the provenance table for {@link lineOf}. */
export const WHOLE_LINE = `seq, line, ${PACKED}`

/** Returns the line of the log from a row with {@link WHOLE_LINE}. */
export function lineOf({ seq, line, packed }: StoredRow): string {
  if (!(packed instanceof Uint8Array)) return wholeLine(String(line))
  const { start, end } = linePartsOf({ start: String(line), rows: unpacked(packed, seq) })
  return start + end
}

/** Throws RecordsError for damaged rows, and for more than a line can have: a copy of a sheet can come from anybody. */
function unpacked(packed: Uint8Array, seq: StoredRow[string] | undefined): string {
  try {
    return zstdDecompressSync(packed, { maxOutputLength: MAX_LINE_BYTES }).toString()
  } catch (error) {
    throw new RecordsError(
      `the rows of line ${Number(seq)} of the log in sheet.db cannot be decompressed: ${error instanceof Error ? error.message : ''}; restore the store from a copy`,
    )
  }
}

/** Parses the line of a row; null when it is not a line of a provenance log, and for no row. */
export function parsedLineOf(row: StoredRow | undefined): JsonObject | null {
  return row === undefined ? null : parseStored(String(row['line']))
}
