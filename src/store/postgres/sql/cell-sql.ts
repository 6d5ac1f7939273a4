import { cellConditions, type Condition, type CellCondition } from '../../condition.ts'
import {
  CellConditionSql,
  cellFacts,
  countRecords,
  isCountedByCells,
  type CellDialect,
} from '../../rules/sql/cell-condition-sql.ts'
import { runAsync } from '../../rules/steps.ts'
import { OID, type PutParam } from './sort-sql.ts'
import type { CheckedSql } from './sql-checks.ts'
import type { SqlSession } from './sql-session.ts'

/** Compiles a condition on cells. */
export type OfCells = (condition: CellCondition, param: PutParam) => string

/** A filter from a user, and a condition. */
interface GivenFilter {
  readonly filter: CheckedSql | null
  readonly where?: Condition | null
}

const CELLS: CellDialect = {
  amongFew: (records) => `"$seq" = ANY(ARRAY(${records}))`,
  amongMany: (records) => `"$seq" IN (${records})`,
  readBy: () => '',
}

/**
 * Makes the following statements run as the role for users, and returns how a condition on cells is compiled.
 * The role may not read what is known of cells: with a filter from a user, the keys of the records are read before; without one, statements
 * with such a condition run as the store's user. Throws QueryError.
 */
export async function confineFilter(
  session: SqlSession,
  { filter, where = null }: GivenFilter,
): Promise<OfCells> {
  const conditions = where === null ? [] : cellConditions(where)
  const keys = new Map<CellCondition, string>()
  if (conditions.length > 0) {
    const cells = await readCells(session, conditions)
    if (filter === null) return (condition) => cells.compile(condition)
    for (const condition of conditions) keys.set(condition, await keysOf(session, cells.records(condition)))
  }
  await session.confine(filter?.names ?? null)
  return (condition, param) =>
    `"$seq" = ANY(${param({ text: keys.get(condition) ?? '{}', type: OID.int8s })})`
}

/** Returns the number of records that match a condition alone if it is known without reading records, else null. */
export async function countOfCells(
  session: SqlSession,
  { filter, where = null }: GivenFilter,
): Promise<number | null> {
  if (filter !== null || !isCountedByCells(where)) return null
  const cells = await readCells(session, [where])
  const known = cells.count(where)
  if (known !== null) return known
  return Number((await session.own().get(countRecords(cells.records(where))))?.['count'])
}

async function readCells(
  session: SqlSession,
  conditions: readonly CellCondition[],
): Promise<CellConditionSql> {
  const facts = await runAsync(
    cellFacts(conditions, async ({ sql, result }) => result(await session.own().all(sql))),
  )
  return new CellConditionSql(facts, CELLS)
}

/** Reads the keys that a SELECT returns, each once, as the text of an array. */
async function keysOf(session: SqlSession, select: string): Promise<string> {
  const row = await session
    .own()
    .get(`SELECT array_agg(DISTINCT found.record)::text AS keys FROM (${select}) AS found`)
  return typeof row?.['keys'] === 'string' ? row['keys'] : '{}'
}
