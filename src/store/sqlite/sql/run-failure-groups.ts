import {
  failedCellsSql,
  failureGroups,
  failuresOfRunSql,
  firstOf,
  largestGroups,
  type FailureGroupsSql,
} from '../../rows/failure-groups.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import type { FailureGroups, GroupedFailures } from '../../sheet-store.ts'
import { quoted } from '../database/schema.ts'
import type { TypedField } from './json-columns.ts'
import { filteredRecords, withFilter } from './run-page.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { ResultWriter } from './sql-result.ts'

/** A request for groups of failures. */
export interface FailureGroupsRun extends GroupedFailures {
  /** The contract's fields, which a filter may name. */
  readonly allFields: readonly TypedField[]
}

/** Writes {@link FailureGroups} as JSON. Throws QueryError. */
export function runFailureGroups(database: SqlDatabase, run: FailureGroupsRun, writer: ResultWriter): void {
  writer.text(JSON.stringify(groupsOf(database, run)))
}

function groupsOf(database: SqlDatabase, { run, allFields, ...records }: FailureGroupsRun): FailureGroups {
  return withFilter(database, records, (wanted) => {
    if (run !== null) return read(database, failuresOfRunSql(runNumber(run) ?? 0), [])
    if (wanted.filter === null && wanted.where === null) return read(database, failedCellsSql('TRUE'), [])
    const columns = ['"$seq"', ...allFields.map(({ name }) => quoted(name))].join(', ')
    const { sql, params } = filteredRecords(columns, wanted)
    const among = `failure.record IN (SELECT "$seq" FROM ${sql})`
    return read(database, failedCellsSql(among), params)
  })
}

function read(
  database: SqlDatabase,
  { counts, samples }: FailureGroupsSql,
  params: readonly (string | number)[],
): FailureGroups {
  const groups = largestGroups(database.prepare(counts).all(...params))
  const found = groups.length === 0 ? [] : database.prepare(samples(firstOf(groups))).all()
  return failureGroups(groups, found)
}
