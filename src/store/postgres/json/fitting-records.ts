import type { RecordKey } from '../../cell-work.ts'
import { PAGE_BYTES } from '../../page-bytes.ts'
import type { JsonBytes } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { RECORD_JSON, recordJsonSource } from './record-json.ts'
import { quoted } from '../database/schema.ts'
import { resultTooLarge } from '../../rules/sql/sql-errors.ts'
import { MAX_RESPONSE_BYTES } from '../../query-limits.ts'
import { writtenColumn, type TypedField } from '../database/columns.ts'

/** Bytes of the pieces in which a record is sent, so that no row of a result blocks for long. */
const PIECE_BYTES = 1 << 18

/** The assumed upper bound of the compression ratio of stored values. */
const COMPRESSION = 100

/** Bytes of JSON text beside a value: its name in quotes, a colon and a comma, and a short value of any type. */
const BYTES_OF_SHORT = 32

/**
 * Returns an expression that estimates the bytes of a record's JSON text, never much too low, without reading values that
 * are stored out of line. The size of compressed JSON is unknown until it is read; it is assumed to be compressed well.
 */
export function recordWeight(fields: readonly TypedField[], alias: string): string {
  const weights = fields.map(({ name, type }) => {
    const [column, written] = [name, writtenColumn(name)].map((own) => `${quoted(alias)}.${quoted(own)}`) as [
      string,
      string,
    ]
    switch (type) {
      case 'string':
        return `coalesce(octet_length(${column}), 0)`
      case 'array':
      case 'object':
        return `${storedSize(column)} + ${storedSize(written)}`
      case 'date':
      case 'timestamp':
        return storedSize(written)
      default:
        return '0'
    }
  })
  const names = fields.reduce((sum, { name }) => sum + name.length + BYTES_OF_SHORT, 0)
  return [`${names}::bigint`, ...weights].join(' + ')
}

function storedSize(column: string): string {
  return `coalesce(pg_column_size(${column})::bigint * CASE WHEN pg_column_compression(${column}) IS NULL THEN 1 ELSE ${COMPRESSION} END, 0)`
}

/** Records of a page as a JSON array, and their number. */
export interface FittingRecords {
  readonly records: JsonBytes
  readonly count: number
}

/**
 * Returns the longest prefix of the records with these keys that fits into the bytes of a page, and at least one record.
 * Reads one after the other, and none beyond the first that does not fit. Throws QueryError for a record that is too large
 * for a response. All keys must be of records, in the state of the store that the connection sees.
 */
export async function fittingRecords(
  db: Pick<Connection, 'all'>,
  keys: readonly RecordKey[],
  fields: readonly TypedField[],
): Promise<FittingRecords> {
  const rows = await db.all(piecesStatement(fields), keys)
  const parts: Buffer[] = [Buffer.from('[')]
  let count = 0
  for (const { number, piece, bytes } of rows) {
    if (!(bytes instanceof Buffer)) throw resultTooLarge()
    if (piece === 0) {
      if (count > 0) parts.push(Buffer.from(','))
      count = Number(number)
    }
    parts.push(bytes)
  }
  parts.push(Buffer.from(']'))
  return { records: Buffer.concat(parts), count }
}

/** Returns a statement for the pieces of each record, which are null for one that is too large. */
function piecesStatement(fields: readonly TypedField[]): string {
  const json = fields.length === 0 ? `'{}'` : RECORD_JSON
  const source = fields.length === 0 ? '' : recordJsonSource(fields, 'data')
  const record = (number: string): string =>
    `SELECT convert_to(${json}, 'UTF8') AS bytes FROM "$data" AS data ${source} WHERE data."$seq" = ($1::bigint[])[${number}]`
  return `WITH RECURSIVE page (number, bytes, total) AS (
      SELECT 1, first.bytes, octet_length(first.bytes)::bigint FROM (${record('1')}) AS first
      UNION ALL
      SELECT page.number + 1, next.bytes, page.total + octet_length(next.bytes)
      FROM page CROSS JOIN LATERAL (${record('page.number + 1')}) AS next
      WHERE page.number < cardinality($1::bigint[]) AND page.total <= ${PAGE_BYTES} AND page.total + octet_length(next.bytes) <= ${PAGE_BYTES}
    )
    SELECT number, piece, CASE WHEN octet_length(bytes) <= ${MAX_RESPONSE_BYTES} THEN substring(bytes FROM piece * ${PIECE_BYTES} + 1 FOR ${PIECE_BYTES}) END AS bytes
    FROM page CROSS JOIN LATERAL generate_series(0, CASE WHEN octet_length(bytes) <= ${MAX_RESPONSE_BYTES} THEN (octet_length(bytes) - 1) / ${PIECE_BYTES} ELSE 0 END) AS piece
    ORDER BY number, piece`
}
