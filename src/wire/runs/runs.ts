import { Type, type Static } from 'typebox'
import type { ErrorCode } from '../../errors/codes.ts'
import type { Placed } from '../../events/frame.ts'
import type { RunDetail, RunFailureList, RunList } from '../../sheet/runs/read-runs.ts'
import type { RunFrame } from '../../sheet/run-feed.ts'
import type { RunProgress, StoredRun } from '../../store/stored-run.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { eventText } from './materialize-frames.ts'
import { cursorParameter, limitParameter } from '../schema/page-parameters.ts'
import { failureGroup } from './failures.ts'
import { failureDetail, failureReason, responseBody } from '../schema/failure-members.ts'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const namesOrNull = (description: string) =>
  Type.Union([Type.Array(Type.String()), Type.Null()], { description })
const boundOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })

/** The progress of a run, in cells; of an import in records. */
const progress = {
  done: Type.Integer({ description: 'Cells that are computed, failed or skipped.' }),
  total: Type.Integer({ description: 'Cells in the run.' }),
  materialized: Type.Integer({ description: 'Cells computed; for a revert, reverted.' }),
  skipped: Type.Integer({ description: 'Cells that did not change; for a revert, conflicts.' }),
  failed: Type.Integer(),
  calls: Type.Integer({ description: 'Calls started; retries are not counted.' }),
  total_cost: Type.Number({ description: 'Dollars.' }),
  unpriced_calls: Type.Integer({
    description: 'Of the calls, those to hosts without `cost_per_call`, which `total_cost` does not include.',
  }),
  left: Type.Integer({
    description: 'Of the skipped cells, pending cells beyond `max_calls` or `max_cost`.',
  }),
  manual_left: Type.Integer({
    description: 'Of the cells with a manual value at the start of the run, those that keep it.',
  }),
  manual_overwritten: Type.Integer({
    description: 'Of these cells, those whose manual value the run overwrote.',
  }),
}

/** A run in lists and frames. */
export const RunSummary = Type.Object({
  id: Type.String(),
  kind: Type.Union([Type.Literal('materialize'), Type.Literal('revert'), Type.Literal('import')], {
    description:
      'The counts of an `import` are of records: `materialized` were created or changed, `skipped` are unchanged.',
  }),
  file: Type.Optional(Type.String({ description: 'The name of the imported file; absent for other runs.' })),
  reverts: textOrNull('For a revert, the run that it reverts.'),
  state: Type.String({ description: '`running`, `finished`, `failed`, `cancelled` or `interrupted`.' }),
  actor: Type.String(),
  targets: namesOrNull('As in the request; null when it did not filter.'),
  record_count: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The number of records in the request; null when it did not filter.',
  }),
  force: Type.Boolean(),
  overwrite_manual: Type.Boolean({
    description: 'Whether it overwrote manual values.',
  }),
  only: textOrNull('`missing`, `stale` or `failed` when the request selected one of these states.'),
  limit: boundOrNull('Maximum number of records.'),
  max_calls: boundOrNull('Maximum number of calls.'),
  max_cost: boundOrNull('Maximum cost in dollars.'),
  stop_after_failures: boundOrNull('Consecutive failures at one host that end the run.'),
  reuse_responses: Type.Boolean({ description: 'Whether the run used kept responses instead of calls.' }),
  keep_fresh: Type.Optional(
    Type.String({
      description:
        'The derivation file whose stale cells were marked as fresh; absent where cells were computed.',
    }),
  ),
  started_at: Type.String(),
  ended_at: textOrNull('Null while it runs.'),
  ...progress,
  error: Type.Union(
    [
      Type.Object({
        type: Type.String(),
        code: Type.Unsafe<ErrorCode | null>(textOrNull('Null for a run of an earlier version.')),
        message: Type.String(),
      }),
      Type.Null(),
    ],
    { description: 'The error that ended it early.' },
  ),
  cancelled_by: textOrNull('The actor who cancelled it.'),
})
export type RunSummary = Static<typeof RunSummary>

/** Response of `GET /api/runs/{id}`. */
export const RunAnswer = Type.Object({
  ...RunSummary.properties,
  record_ids: namesOrNull('As in the request; null when it did not filter.'),
  steps: Type.Optional(
    Type.Array(
      Type.Object({
        derivation: Type.String(),
        step: Type.Integer({ description: 'Its place in the file, from 1.' }),
        kind: Type.String(),
        results: Type.Integer({
          description: 'Results that the run computed; those in the cache do not count.',
        }),
        accepted: Type.Integer({ description: 'Of these, the accepted ones.' }),
        cost: Type.Number({ description: 'Dollars of the calls whose cost is known.' }),
        unpriced_calls: Type.Integer({ description: 'Calls whose cost is not known.' }),
      }),
      { description: 'The steps of fallbacks that had results. Absent for none.' },
    ),
  ),
})
export type RunAnswer = Static<typeof RunAnswer>

/** Path of the routes about one run. */
export const RunParams = Type.Object({ id: Type.String({ description: 'The run’s id.' }) })

/** Query of `GET /api/runs`. */
export const RunPageQuery = closedObject({
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(cursorParameter('A `next_cursor` of the same list.')),
})

/** Query of `GET /api/runs/{id}/failures`. */
export const RunFailuresQuery = closedObject({
  group: Type.Optional(failureGroup),
  ...RunPageQuery.properties,
})

const nextCursor = textOrNull('Null on the last page.')

/** Response of `GET /api/runs`. */
export const RunListAnswer = Type.Object({ runs: Type.Array(RunSummary), next_cursor: nextCursor })
export type RunListAnswer = Static<typeof RunListAnswer>

/** Response of `GET /api/runs/{id}/failures`. */
export const RunFailuresAnswer = Type.Object({
  failures: Type.Array(
    Type.Object({
      record_id: Type.String(),
      field: Type.String(),
      error: Type.String(),
      detail: failureDetail,
      error_type: Type.String(),
      reason: failureReason,
      response_body: responseBody,
      at: Type.String(),
    }),
  ),
  next_cursor: nextCursor,
})
export type RunFailuresAnswer = Static<typeof RunFailuresAnswer>

/** Body of `POST /api/runs/{id}/cancel`. */
export const CancelRunBody = closedObject({
  actor: Type.Optional(actorMember('The actor who cancels; the server default when absent.')),
})

/** Payload of `run.progress`. */
export const RunProgressFrame = Type.Object({ id: Type.String(), ...progress })

/** Payload of `run.cells`. */
export const RunCellsFrame = Type.Object({
  id: Type.String(),
  cells: Type.Array(
    Type.Object({
      record_id: Type.String(),
      field: Type.String(),
      state: Type.String({
        description: '`running` while a call for the cell is under way, then `fresh` or `failed`.',
      }),
      value: Type.Optional(
        Type.Unknown({ description: 'For a fresh cell, unless it is longer than about 1,000 characters.' }),
      ),
      error: Type.Optional(Type.String()),
      error_type: Type.Optional(Type.String()),
      reason: Type.Optional(failureReason),
    }),
  ),
  omitted: Type.Integer({ description: 'Further cells that were stored and are not listed.' }),
})

/** Payload of a frame of `GET /api/runs/{id}/events`; for `run.end` the run. */
export const RunFrameAnswer = Type.Union([
  RunProgressFrame,
  RunCellsFrame,
  RunSummary,
  Type.Object(
    {},
    {
      additionalProperties: false,
      description: 'For `frames.missed`, which only servers that share a sheet send.',
    },
  ),
])

/** Converts a run with its requested records to the wire format. */
export function toRunAnswer({ run, recordIds, steps }: RunDetail): RunAnswer {
  return {
    ...toRunSummary(run),
    record_ids: recordIds && [...recordIds],
    ...(steps.length > 0 && {
      steps: steps.map(({ unpricedCalls, ...step }) => ({ ...step, unpriced_calls: unpricedCalls })),
    }),
  }
}

/** Converts a run to the wire format. */
export function toRunSummary(run: StoredRun): RunSummary {
  return {
    id: run.id,
    kind: run.kind,
    ...(run.file !== undefined && { file: run.file }),
    reverts: run.reverts,
    state: run.state,
    actor: run.actor,
    targets: run.targets && [...run.targets],
    record_count: run.recordCount,
    force: run.force,
    overwrite_manual: run.overwriteManual,
    only: run.only,
    limit: run.limit,
    max_calls: run.maxCalls,
    max_cost: run.maxCost,
    stop_after_failures: run.stopAfterFailures,
    reuse_responses: run.reuseResponses,
    ...(run.keepFresh !== undefined && { keep_fresh: run.keepFresh }),
    started_at: run.startedAt,
    ended_at: run.endedAt,
    ...toProgress(run),
    error: run.error && { ...run.error, message: run.error.message.toWellFormed() },
    cancelled_by: run.cancelledBy,
  }
}

function toProgress(run: RunProgress): Omit<Static<typeof RunProgressFrame>, 'id'> {
  return {
    done: run.done,
    total: run.total,
    materialized: run.materialized,
    skipped: run.skipped,
    failed: run.failed,
    calls: run.calls,
    total_cost: run.totalCost,
    unpriced_calls: run.unpricedCalls,
    left: run.left,
    manual_left: run.manualLeft,
    manual_overwritten: run.manualOverwritten,
  }
}

/** Converts a page of runs to the wire format. */
export function toRunListAnswer({ runs, nextCursor: next }: RunList): RunListAnswer {
  return { runs: runs.map(toRunSummary), next_cursor: next }
}

/** Converts a page of failures to the wire format. */
export function toRunFailuresAnswer({ failures, nextCursor: next }: RunFailureList): RunFailuresAnswer {
  return {
    failures: failures.map(
      ({ recordId, field, error, detail, errorType, reason, responseBody: received, at }) => ({
        record_id: recordId,
        field,
        error,
        detail: detail ?? null,
        error_type: errorType,
        reason,
        ...(received !== undefined && { response_body: received }),
        at,
      }),
    ),
    next_cursor: next,
  }
}

/** The text of a frame on the stream of a run. */
export function renderRunFrame(frame: Placed<RunFrame>): string {
  return eventText(frame, toPayload(frame))
}

function toPayload(frame: RunFrame): object {
  switch (frame.kind) {
    case 'run.progress':
      return { id: frame.id, ...toProgress(frame.progress) } satisfies Static<typeof RunProgressFrame>
    case 'run.cells':
      return {
        id: frame.id,
        cells: frame.cells.map(toCell),
        omitted: frame.omitted,
      } satisfies Static<typeof RunCellsFrame>
    case 'run.end':
      return toRunSummary(frame.run)
    case 'frames.missed':
      return {}
  }
}

type Cell = Extract<RunFrame, { kind: 'run.cells' }>['cells'][number]

function toCell(cell: Cell): Static<typeof RunCellsFrame>['cells'][number] {
  const common = { record_id: cell.recordId, field: cell.field, state: cell.state }
  if (cell.state === 'failed') {
    return { ...common, error: cell.error, error_type: cell.errorType, reason: cell.reason }
  }
  return cell.state === 'running' || cell.value === undefined ? common : { ...common, value: cell.value }
}
