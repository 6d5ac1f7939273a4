import { PAGE_BYTES } from '../../page-bytes.ts'
import type { Page, PagePlace, PageQuery } from '../../sheet-store.ts'
import { RECORD_JSON, recordJsonSource } from '../json/record-json.ts'
import { fittingRecords, recordWeight, type FittingRecords } from '../json/fitting-records.ts'
import { beginning, exceeds, fits } from '../database/field-indexes.ts'
import { quoted } from '../database/schema.ts'
import type { TypedField } from '../database/columns.ts'
import { conditionSql } from './condition-sql.ts'
import {
  heldColumns,
  OID,
  sortColumn,
  sortColumns,
  sortedParts,
  sortOrder,
  sortValue,
  type PutParam,
  type SortedPart,
  type SortTerm,
} from './sort-sql.ts'
import { ResultWriter } from './sql-result.ts'
import { confineFilter, type OfCells } from './cell-sql.ts'
import type { CheckedSql } from './sql-checks.ts'
import type { SqlSession } from './sql-session.ts'
import type { ColumnText, TypedParam } from './wire-query.ts'

/** A page of filtered or sorted records. */
export interface PageRun extends Omit<PageQuery, 'fields' | 'sort'> {
  /** The fields of the response, in its order. */
  readonly fields: readonly TypedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
  readonly sort: readonly SortTerm[]
}

/** A page with its filter checked. */
export type CheckedPage = Omit<PageRun, 'filter'> & { readonly filter: CheckedSql | null }

/**
 * Reads a page as a JSON array (D11, D16). The filter finds the places of its records as the role that may read only these;
 * the store itself then reads the records, in the same state.
 */
export async function runPage(session: SqlSession, page: CheckedPage): Promise<Page> {
  const found = await placesOf(session, { ...page, ofCells: await confineFilter(session, page) })
  session.release()
  const { records, count } = await recordsAt(session, found.slice(0, page.limit), page.fields)
  return { records, next: found.length > count ? (found[count - 1] ?? null) : null }
}

export interface WantedRecords extends Pick<CheckedPage, 'allFields' | 'filter' | 'where'> {
  /** See {@link confineFilter}. */
  readonly ofCells: OfCells
}

/** A page whose filter and condition can be compiled. */
type ConfinedPage = CheckedPage & WantedRecords

/**
 * Returns the records that a filter and a condition select, as a table `records` with the contract's fields, beside which
 * `"$row"."$seq"` is their place. The filter is alone in its WHERE, followed by a line break that ends its comment;
 * `records` has no other columns, so that naming it as a whole does not reveal them.
 */
export function filteredRecords(
  { allFields, filter, where, ofCells }: WantedRecords,
  param: PutParam,
): string {
  const inner = allFields.map(({ name }, index) => `, ${quoted(name)} AS "$field${index}"`).join('')
  const outer = allFields.map(({ name }, index) => `"$field${index}" AS ${quoted(name)}`).join(', ')
  const condition = where ? `WHERE ${conditionSql(where, param, ofCells)}` : ''
  const filtered = filter === null ? '' : `WHERE (\n${filter.text}\n)`
  return `(SELECT "$seq"${inner} FROM "$data" ${condition}) AS "$row" CROSS JOIN LATERAL (SELECT ${outer}) AS records ${filtered}`
}

/** Returns the places of the page's records in their order, and one more when there are more. */
async function placesOf(session: SqlSession, page: ConfinedPage): Promise<readonly PagePlace[]> {
  const { sort, after, limit } = page
  const places: PagePlace[] = []
  let { skip } = page
  for (const part of sortedParts(sort, after)) {
    const found = await rowsOf(session, partOf(page, part, { wanted: limit + 1 - places.length, skip }))
    for (const [key, ...values] of found) {
      places.push({
        key: Number(key),
        values: sort.map(({ field }, index) => sortValue(field, values[index] ?? null)),
      })
    }
    if (places.length > limit) break
    // Skipped were all records of the part, or as many as had to be.
    if (skip > 0) skip = found.length > 0 ? 0 : skip - (await countOf(session, page, part))
  }
  return places
}

/** Builds a statement, with parameters for its values. */
export type Statement = (param: PutParam) => string

/** Runs a statement with its parameters, and returns its rows. */
export function rowsOf(session: SqlSession, statement: Statement): Promise<(readonly ColumnText[])[]> {
  const params: TypedParam[] = []
  return session.rows(
    statement((value) => `$${params.push(value)}`),
    params,
  )
}

/** Returns a statement that finds up to `limit` places of a part, after `skip` others. */
function partOf(
  page: ConfinedPage,
  { where, divided }: SortedPart,
  { wanted, skip }: { readonly wanted: number; readonly skip: number },
): Statement {
  const { sort } = page
  const keys = ['"$seq"', ...heldColumns(sort)].join(', ')
  const order = sortOrder(sort)
  return (param) => {
    const [rows, offset] = [wanted, skip].map((count) => param({ text: String(count), type: OID.int8 }))
    const found = `SELECT * FROM (${foundRecords(page, param)}) AS "$found"`
    const condition = where(param)
    if (divided) {
      const halves = bothHalves({ found, condition, sort, limit: `${rows} + ${offset}` })
      return `SELECT ${keys} FROM (${halves}) AS "$part" ORDER BY ${sortOrder(sort, '"$rank"')} LIMIT ${rows} OFFSET ${offset}`
    }
    const part = condition === '' ? found : `${found} WHERE ${condition}`
    return `SELECT ${keys} FROM (${part}) AS "$part" ORDER BY ${order} LIMIT ${rows} OFFSET ${offset}`
  }
}

/**
 * Merges the first of the texts in the index with the first of those too long for it. The latter are compared with the
 * former by their beginning only, since they can be very long; `"$rank"` is their order among themselves.
 */
function bothHalves(part: {
  readonly found: string
  readonly condition: string
  readonly sort: readonly SortTerm[]
  readonly limit: string
}): string {
  const { found, condition, sort, limit } = part
  const order = `ORDER BY ${sortOrder(sort)}`
  const [column, ...others] = sort.map((_term, index) => sortColumn(index))
  const columns = (first: string, rank: string): string =>
    [`${first} AS ${column}`, ...others, '"$seq"', `${rank} AS "$rank"`].join(', ')
  const half = (holds: (text: string) => string): string =>
    `(${found} WHERE ${condition} AND ${holds(sortColumn(0))} ${order} LIMIT ${limit})`
  return `SELECT ${columns(`${column}`, '0')} FROM ${half(fits)} AS "$fitting"
    UNION ALL SELECT ${columns(beginning(`${column}`), `row_number() OVER (${order})`)} FROM ${half(exceeds)} AS "$long"`
}

async function countOf(session: SqlSession, page: ConfinedPage, { where }: SortedPart): Promise<number> {
  const [row] = await rowsOf(session, (param) => {
    const condition = where(param)
    return `SELECT count(*) FROM (${foundRecords(page, param)}) AS "$found" ${condition === '' ? '' : `WHERE ${condition}`}`
  })
  return Number(row?.[0])
}

function foundRecords(page: ConfinedPage, param: PutParam): string {
  return `SELECT "$row"."$seq"${sortColumns(page.sort)} FROM ${filteredRecords(page, param)}`
}

async function recordsAt(
  session: SqlSession,
  places: readonly PagePlace[],
  fields: readonly TypedField[],
): Promise<FittingRecords> {
  if (places.length === 0) return { records: Buffer.from('[]'), count: 0 }
  const json = fields.length === 0 ? `'{}'` : RECORD_JSON
  const keys = places.map(({ key }) => key)
  const rows = await session.own().all(
    `SELECT records.json FROM (
        SELECT sum(${recordWeight(fields, 'data')}) AS weight FROM "$data" AS data WHERE data."$seq" = ANY($1::bigint[])
      ) AS weights CROSS JOIN LATERAL (
        SELECT place.number, ${json} AS json FROM unnest($1::bigint[]) WITH ORDINALITY AS place (seq, number)
        JOIN "$data" AS data ON data."$seq" = place.seq ${fields.length === 0 ? '' : recordJsonSource(fields, 'data')}
        WHERE weights.weight <= ${PAGE_BYTES}
      ) AS records ORDER BY records.number`,
    keys,
  )
  // No record is read when each is too large.
  if (rows.length === 0) return fittingRecords(session.own(), keys, fields)
  const writer = new ResultWriter()
  for (const [index, row] of rows.entries()) writer.text(`${index === 0 ? '[' : ','}${String(row['json'])}`)
  writer.text(']')
  return { records: writer.finish(), count: places.length }
}
