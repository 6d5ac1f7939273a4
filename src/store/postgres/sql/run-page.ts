import type { JsonBytes, Page, PagePlace } from '../../sheet-store.ts'
import { RECORD_JSON, recordJsonSource } from '../record-json.ts'
import { quoted } from '../schema.ts'
import type { TypedField } from '../values.ts'
import {
  heldColumns,
  OID,
  sortColumns,
  sortedAfter,
  sortOrder,
  sortValue,
  type SortTerm,
} from './sort-sql.ts'
import { SqlAnswer } from './sql-answer.ts'
import type { CheckedSql } from './sql-checks.ts'
import type { SqlSession } from './sql-session.ts'
import type { TypedParam } from './wire-query.ts'

/** A page of records that takes more than walking along the table: filtered or sorted. */
export interface PageRun {
  /** The fields of the answer, in its order. */
  readonly fields: readonly TypedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
  readonly limit: number
  /** Records after this place; null starts at the first. */
  readonly after: PagePlace | null
  /** From a user; null for all records. */
  readonly filter: string | null
  /** Creation order when there are none. */
  readonly sort: readonly SortTerm[]
  /** So many records are passed over. */
  readonly skip: number
}

/** The same with its filter checked. */
export type CheckedPage = Omit<PageRun, 'filter'> & { readonly filter: CheckedSql | null }

/**
 * Makes a page as a JSON array (D11, D16). The filter looks for the places of its records as the role that may read them
 * alone; what the records are is then read by the store itself, in the same state.
 */
export async function runPage(session: SqlSession, page: CheckedPage): Promise<Page> {
  await session.confine(page.filter?.names ?? null)
  const found = await placesOf(session, page)
  session.release()
  const places = found.slice(0, page.limit)
  return {
    records: await recordsAt(session, places, page.fields),
    next: found.length > page.limit ? (places.at(-1) ?? null) : null,
  }
}

/**
 * The records that a filter lets through, as a table `records` with the contract's fields, beside which `"$row"."$seq"` is
 * their place. The filter stands alone in its WHERE, behind a line break that ends its comment; `records` has no other
 * columns, so that naming it as a whole does not tell of them.
 */
export function filteredRecords(fields: readonly TypedField[], filter: CheckedSql | null): string {
  const inner = fields.map(({ name }, index) => `, ${quoted(name)} AS "$field${index}"`).join('')
  const outer = fields.map(({ name }, index) => `"$field${index}" AS ${quoted(name)}`).join(', ')
  const where = filter === null ? '' : `WHERE (\n${filter.text}\n)`
  return `(SELECT "$seq"${inner} FROM "$data") AS "$row" CROSS JOIN LATERAL (SELECT ${outer}) AS records ${where}`
}

/** The places of the page's records in their order, and one more when there are more. */
async function placesOf(session: SqlSession, page: CheckedPage): Promise<readonly PagePlace[]> {
  const { sort, after, skip, limit, allFields, filter } = page
  const params: TypedParam[] = []
  const param = (value: TypedParam): string => `$${params.push(value)}`
  const keys = heldColumns(sort)
    .map((column) => `, ${column}`)
    .join('')
  const found = `SELECT "$row"."$seq"${sortColumns(sort)} FROM ${filteredRecords(allFields, filter)}`
  const where = after === null ? '' : `WHERE ${sortedAfter(sort, after, param)}`
  const [rows, offset] = [limit + 1, skip].map((count) => param({ text: String(count), type: OID.int8 }))
  const result = await session.rows(
    `SELECT "$seq"${keys} FROM (${found}) AS "$found" ${where} ORDER BY ${sortOrder(sort)} LIMIT ${rows} OFFSET ${offset}`,
    params,
  )
  return result.map(([key, ...values]) => ({
    key: Number(key),
    values: sort.map(({ field }, index) => sortValue(field, values[index] ?? null)),
  }))
}

async function recordsAt(
  session: SqlSession,
  places: readonly PagePlace[],
  fields: readonly TypedField[],
): Promise<JsonBytes> {
  if (places.length === 0) return Buffer.from('[]')
  const json = fields.length === 0 ? `'{}'` : RECORD_JSON
  const rows = await session.own().all(
    `SELECT ${json} AS json FROM unnest($1::bigint[]) WITH ORDINALITY AS place (seq, number)
      JOIN "$data" AS data ON data."$seq" = place.seq ${fields.length === 0 ? '' : recordJsonSource(fields, 'data')}
      ORDER BY place.number`,
    places.map(({ key }) => key),
  )
  const answer = new SqlAnswer()
  for (const [index, row] of rows.entries()) answer.text(`${index === 0 ? '[' : ','}${String(row['json'])}`)
  answer.text(']')
  return answer.finish()
}
