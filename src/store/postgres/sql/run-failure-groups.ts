import {
  failedCellsSql,
  failureGroups,
  failuresOfRunSql,
  firstOf,
  largestGroups,
} from '../../rows/failure-groups.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import type { GroupedFailures, JsonBytes } from '../../sheet-store.ts'
import type { TypedField } from '../database/columns.ts'
import { confineFilter } from './cell-sql.ts'
import { filteredRecords, rowsOf } from './run-page.ts'
import { OID } from './sort-sql.ts'
import type { CheckedSql } from './sql-checks.ts'
import type { SqlSession } from './sql-session.ts'

/** A request for groups of failures. */
export interface FailureGroupsRun extends GroupedFailures {
  /** The contract's fields, which a filter may name. */
  readonly allFields: readonly TypedField[]
}

/** The same with its filter checked. */
export type CheckedFailureGroups = Omit<FailureGroupsRun, 'filter'> & { readonly filter: CheckedSql | null }

/** Makes FailureGroups as JSON. */
export async function runFailureGroups(session: SqlSession, run: CheckedFailureGroups): Promise<JsonBytes> {
  const sql =
    run.run === null
      ? failedCellsSql(await amongRecords(session, run))
      : failuresOfRunSql(runNumber(run.run) ?? 0)
  const groups = largestGroups(await session.own().all(sql.counts))
  const samples = groups.length === 0 ? [] : await session.own().all(sql.samples(firstOf(groups)))
  return Buffer.from(JSON.stringify(failureGroups(groups, samples)))
}

/** Returns the condition that `failure.record` is among the records that a filter and a condition select. */
async function amongRecords(
  session: SqlSession,
  { filter, where = null, allFields }: CheckedFailureGroups,
): Promise<string> {
  if (filter === null && where === null) return 'TRUE'
  const failed = await session.own().get('SELECT array_agg(DISTINCT record)::text AS keys FROM "$failure"')
  const keys = typeof failed?.['keys'] === 'string' ? failed['keys'] : '{}'
  const wanted = { filter, where, allFields, ofCells: await confineFilter(session, { filter, where }) }
  // The role for users finds the records, and may not read failures.
  const found = await rowsOf(
    session,
    (param) =>
      `SELECT "$seq" FROM (SELECT "$row"."$seq" FROM ${filteredRecords(wanted, param)}) AS "$found"
        WHERE "$seq" = ANY(${param({ text: keys, type: OID.int8s })})`,
  )
  session.release()
  return `failure.record = ANY('{${found.map(([key]) => key).join(',')}}'::bigint[])`
}
