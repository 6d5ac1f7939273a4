import { commonError, groupId } from '../../errors/failure-group.ts'
import type { FailureGroup, FailureGroups } from '../sheet-store.ts'
import { MAX_FAILURE_GROUPS } from '../sheet-store.ts'
import type { QueryRow } from './query.ts'
import { WITH_BODY } from './run-failures.ts'
import { storedCellFailure } from './stored-rows.ts'

/**
 * SQL of both engines that groups failures: a statement counts them by group and field, and another reads one failure of each group.
 */
export interface FailureGroupsSql {
  readonly counts: string
  /** Returns a statement for the failures at the places of {@link CountedFailures}. */
  samples(counts: readonly CountedFailures[]): string
}

/** Creates the columns by which failures are grouped ({@link failureGroup}), in the SQL of an engine. */
export function failureGroupColumns({
  integer,
  text,
}: {
  readonly integer: string
  readonly text: string
}): string {
  return `
    ALTER TABLE "$failure" ADD COLUMN detail ${text};
    ALTER TABLE "$failure" ADD COLUMN alike ${integer};
    ALTER TABLE "$run_failure" ADD COLUMN alike ${integer};
  `
}

/** Fills them for the failures of earlier versions; `group` returns SQL for the number of a group. */
export function groupStoredFailures(group: (detail: string) => string): string {
  return `
    UPDATE "$failure" SET alike = ${group('NULL')};
    UPDATE "$run_failure" SET alike = ${group('detail')};
  `
}

/** Creates the indexes that find the failures of a group, in the SQL of both engines. */
export const FAILURE_GROUP_INDEXES = `
  CREATE INDEX "$failure_alike" ON "$failure" (alike, target, record);
  CREATE INDEX "$run_failure_alike" ON "$run_failure" (run, alike, number);
`

/** The failures of a group and field. */
interface CountedFailures {
  readonly group: number
  /** A field, or several with commas between. */
  readonly fields: string
  /** The number of cells. */
  readonly cells: number
  /** The cells of all groups. */
  readonly total: number
  /** One of the failures: the id of its target, or the number of its run, and the key of its record, or its number in the run. */
  readonly place: readonly [of: number, first: number]
}

/** The most pairs of a group and a field that are counted. */
const MOST_COUNTS = 10_000

/** Groups the cells that are failed now; `among` is a condition on the column `failure.record`. */
export function failedCellsSql(among: string): FailureGroupsSql {
  return {
    counts: `SELECT failure.alike, target.field AS fields, count(*) AS cells, sum(count(*)) OVER () AS total,
        failure.target AS place, min(failure.record) AS first
      FROM "$failure" AS failure JOIN "$target" AS target ON target.id = failure.target AND target.active
        JOIN "$todo" AS todo ON todo.target = failure.target AND todo.record = failure.record AND NOT todo.blocked
      WHERE ${among} GROUP BY failure.alike, failure.target, target.field
      ORDER BY cells DESC, failure.alike, failure.target LIMIT ${MOST_COUNTS}`,
    samples: (
      counts,
    ) => `SELECT failure.alike, failure.error, failure.detail, failure.error_type, failure.reason,
        failure.response_body, failure.at, data.id AS record_id
      FROM "$failure" AS failure JOIN "$data" AS data ON data."$seq" = failure.record
      WHERE (failure.target, failure.record) IN (VALUES ${places(counts)})`,
  }
}

/** Groups the failures of a run, by its number. */
export function failuresOfRunSql(run: number): FailureGroupsSql {
  const cells = `count(*) * (1 + length(failure.field) - length(replace(failure.field, ',', '')))`
  return {
    counts: `SELECT failure.alike, failure.field AS fields, ${cells} AS cells, sum(${cells}) OVER () AS total,
        failure.run AS place, min(failure.number) AS first
      FROM "$run_failure" AS failure WHERE failure.run = ${run} GROUP BY failure.alike, failure.field, failure.run
      ORDER BY cells DESC, failure.alike, failure.field LIMIT ${MOST_COUNTS}`,
    samples: (
      counts,
    ) => `SELECT failure.alike, failure.error, failure.detail, failure.error_type, failure.reason,
        coalesce(kept.body, failure.response_body) AS response_body, failure.at, failure.record_id
      FROM "$run_failure" AS failure ${WITH_BODY}
      WHERE (failure.run, failure.number) IN (VALUES ${places(counts)})`,
  }
}

function places(counts: readonly CountedFailures[]): string {
  return counts.map(({ place: [of, first] }) => `(${of}, ${first})`).join(', ')
}

/** Returns the largest groups from the rows of the first statement, each with the place of one of its failures. */
export function largestGroups(rows: readonly QueryRow[]): readonly (readonly CountedFailures[])[] {
  const counts = rows.map((row) => ({
    group: Number(row['alike']),
    fields: String(row['fields']),
    cells: Number(row['cells']),
    total: Number(row['total']),
    place: [Number(row['place']), Number(row['first'])] as const,
  }))
  const cellsOf = (members: readonly CountedFailures[]): number =>
    members.reduce((sum, { cells }) => sum + cells, 0)
  return [...Map.groupBy(counts, ({ group }) => group).values()]
    .toSorted((one, other) => cellsOf(other) - cellsOf(one))
    .slice(0, MAX_FAILURE_GROUPS)
}

/** Returns the first failure of each group, for the second statement. */
export function firstOf(groups: readonly (readonly CountedFailures[])[]): readonly CountedFailures[] {
  return groups.flatMap((members) => members.slice(0, 1))
}

/** Returns the groups from the rows of the second statement. */
export function failureGroups(
  groups: readonly (readonly CountedFailures[])[],
  samples: readonly QueryRow[],
): FailureGroups {
  const sampleOf = new Map(samples.map((row) => [Number(row['alike']), row]))
  return {
    cells: groups[0]?.[0]?.total ?? 0,
    groups: groups.flatMap((members): FailureGroup[] => {
      const group = members[0]?.group ?? 0
      const row = sampleOf.get(group)
      if (row === undefined) return []
      const { error, errorType, reason, responseBody } = storedCellFailure(row)
      const { detail } = row
      const fields: Record<string, number> = {}
      for (const { fields: names, cells } of members) {
        const listed = names.split(',')
        for (const name of listed) fields[name] = (fields[name] ?? 0) + cells / listed.length
      }
      const cells = members.reduce((sum, each) => sum + each.cells, 0)
      return [
        {
          id: groupId(group),
          text: cells === 1 || typeof detail !== 'string' ? error : commonError({ error, detail }),
          error_type: errorType,
          reason,
          ...(responseBody !== undefined && { response_body: responseBody }),
          cells,
          fields,
          record_id: String(row['record_id']),
        },
      ]
    }),
  }
}
