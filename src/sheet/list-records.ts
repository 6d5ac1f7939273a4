import { ValidationError } from '../errors/service-error.ts'
import type { JsonBytes } from '../store/sheet-store.ts'
import { openCursor, sealCursor } from './cursor.ts'
import { selectFields } from './select-fields.ts'
import type { Sheet } from './sheet.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000

export interface ListRecordsQuery {
  readonly fields: readonly string[] | null
  /** Any integer above 0; more than 10,000 is lowered to that (D10). Null is 50. */
  readonly limit: number | null
  readonly cursor: string | null
  /** A boolean SQL expression over the fields (D16). */
  readonly filter: string | null
}

export interface RecordList {
  /** A JSON array of records. */
  readonly records: JsonBytes
  readonly limit: number
  /** Null exactly when nothing follows (D11). */
  readonly nextCursor: string | null
}

/**
 * A page of records in creation order (D10, D11, D12). Throws ValidationError for a bad limit, cursor or field, and
 * QueryError for a bad filter.
 */
export async function listRecords(sheet: Sheet, query: ListRecordsQuery): Promise<RecordList> {
  const { filter } = query
  const limit = pageLimit(query.limit)
  const { contract, store } = await sheet.current()
  const fields = selectFields(contract, query.fields)
  const after = query.cursor === null ? null : openCursor(store.cursorKey, query.cursor, filter)
  const { records, next } = await store.page({ fields, limit, after, filter })
  return { records, limit, nextCursor: next === null ? null : sealCursor(store.cursorKey, next, filter) }
}

function pageLimit(asked: number | null): number {
  if (asked === null) return DEFAULT_LIMIT
  if (!Number.isInteger(asked) || asked < 1) {
    throw new ValidationError(`limit must be an integer from 1 to ${MAX_LIMIT}, got ${asked}`)
  }
  return Math.min(asked, MAX_LIMIT)
}
