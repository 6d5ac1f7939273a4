import { createHash } from 'node:crypto'
import { failureGroup } from '../../errors/failure-group.ts'
import { storedCellFailure } from './stored-rows.ts'
import type { FailedCell, RunFailure } from '../stored-run.ts'

/**
 * Rows of `$run_failure` and `$run_body`, which are the same in both engines. Fields of a record that failed for one
 * reason, such as the targets of one call, share a row; failures of a run with the same response body share that.
 */

/** A row of `$run_failure` to be stored. */
export interface FailureRow extends Pick<
  FailedCell,
  'recordId' | 'error' | 'detail' | 'errorType' | 'reason'
> {
  /** The fields, with commas between. */
  readonly fields: string
  /** The number of its last failure. */
  readonly number: number
  /** The key of its body in `$run_body`; null for none. */
  readonly body: Uint8Array | null
  /** The number of its group ({@link failureGroup}). */
  readonly alike: number
}

/** A row of `$run_body` to be stored. */
export interface BodyRow {
  readonly hash: Uint8Array
  readonly body: string
}

/** Returns the rows of failures that follow the one of the number `last`; a body may be stored already. */
export function failureRows(
  failures: readonly FailedCell[],
  last: number,
): { readonly rows: readonly FailureRow[]; readonly bodies: readonly BodyRow[] } {
  const rows: FailureRow[] = []
  const bodies = new Map<string, BodyRow>()
  let before: FailedCell | undefined
  for (const [index, failure] of failures.entries()) {
    const number = last + index + 1
    const row = rows.at(-1)
    if (row !== undefined && before !== undefined && isSameReason(before, failure)) {
      rows[rows.length - 1] = { ...row, number, fields: `${row.fields},${failure.field}` }
    } else {
      const { recordId, field: fields, error, detail, errorType, reason, responseBody } = failure
      const kept = responseBody === undefined ? null : bodyOf(bodies, responseBody)
      rows.push({
        number,
        recordId,
        fields,
        error,
        detail,
        errorType,
        reason,
        body: kept,
        alike: failureGroup(failure),
      })
    }
    before = failure
  }
  return { rows, bodies: [...bodies.values()] }
}

/** Returns the failures of rows of `$run_failure`, after a number and up to a limit. */
export function storedFailures(
  rows: readonly Readonly<Record<string, unknown>>[],
  { after, limit }: { readonly after: number; readonly limit: number },
): RunFailure[] {
  const failures: RunFailure[] = []
  for (const row of rows) {
    const fields = String(row['field']).split(',')
    const first = Number(row['number']) - fields.length + 1
    const { detail } = row
    const common = {
      recordId: String(row['record_id']),
      ...(typeof detail === 'string' && { detail }),
      ...storedCellFailure(row),
    }
    for (const [index, field] of fields.entries()) {
      if (failures.length === limit) return failures
      const number = first + index
      if (number > after) failures.push({ number, field, ...common })
    }
  }
  return failures
}

function isSameReason(one: FailedCell, other: FailedCell): boolean {
  return (
    one.recordId === other.recordId &&
    one.error === other.error &&
    one.errorType === other.errorType &&
    one.reason === other.reason &&
    one.responseBody === other.responseBody
  )
}

function bodyOf(bodies: Map<string, BodyRow>, body: string): Uint8Array {
  const known = bodies.get(body)
  if (known !== undefined) return known.hash
  const hash = createHash('sha256').update(body).digest()
  bodies.set(body, { hash, body })
  return hash
}

/** Bytes of texts of a page of runs or failures: the page ends with the row that reaches them. */
const PAGE_BYTES = 4 * 1024 * 1024

/** All columns of `$run` except `record_ids`. */
export const RUN_COLUMNS = `id, kind, reverts, state, actor, request, started_at, ended_at, total, materialized, skipped, failed,
  calls, total_cost, unpriced_calls, left_cells, manual_left, manual_overwritten, error, error_type, error_code, cancelled_by`

/** Selects a page of runs, newest first. Parameters: the id before which it begins, and a limit. */
export const RUNS_PAGE = `WITH listed AS (
      SELECT place, sum(size) OVER (ORDER BY place DESC) - size AS passed FROM (
        SELECT id AS place, octet_length(request) + coalesce(octet_length(error), 0) + coalesce(octet_length(record_ids), 0) / 16 AS size
        FROM "$run" WHERE id < ?1 ORDER BY id DESC LIMIT ?2
      ) AS sized
    )
    SELECT ${RUN_COLUMNS} FROM listed JOIN "$run" ON id = place WHERE passed < ${PAGE_BYTES} ORDER BY id DESC`

/** Joins the response body of a row of `$run_failure`, named `failure`. */
export const WITH_BODY =
  'LEFT JOIN "$run_body" AS kept ON kept.run = failure.run AND kept.hash = failure.body'

/**
 * Returns a statement for a page of rows of failures, of all or of one group. Parameters: the run, the number after which it
 * begins, a limit, and for one group its number.
 */
export function failuresPage(isOfGroup: boolean): string {
  const ofGroup = isOfGroup ? 'AND failure.alike = ?4' : ''
  return `WITH listed AS (
      SELECT place, sum(size) OVER (ORDER BY place) - size AS passed FROM (
        SELECT failure.number AS place,
          (octet_length(failure.record_id) + octet_length(failure.error)
            + coalesce(octet_length(kept.body), octet_length(failure.response_body), 0))
          * (1 + length(failure.field) - length(replace(failure.field, ',', ''))) AS size
        FROM "$run_failure" AS failure ${WITH_BODY}
        WHERE failure.run = ?1 AND failure.number > ?2 ${ofGroup}
        ORDER BY failure.number LIMIT ?3
      ) AS sized
    )
    SELECT failure.number, failure.record_id, failure.field, failure.error, failure.detail,
      failure.error_type, failure.reason, coalesce(kept.body, failure.response_body) AS response_body, failure.at
    FROM listed JOIN "$run_failure" AS failure ON failure.run = ?1 AND failure.number = listed.place ${WITH_BODY}
    WHERE passed < ${PAGE_BYTES} ORDER BY failure.number`
}
