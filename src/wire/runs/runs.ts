import { Type, type Static } from 'typebox'
import type { Placed } from '../../events/frame.ts'
import type { RunDetail, RunFailureList, RunList } from '../../sheet/runs/read-runs.ts'
import type { RunFrame } from '../../sheet/run-feed.ts'
import type { RunProgress, StoredRun } from '../../store/stored-run.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { eventText } from './materialize-frames.ts'
import { cursorParameter, limitParameter } from '../schema/page-parameters.ts'
import { responseBody } from '../schema/response-body.ts'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const namesOrNull = (description: string) =>
  Type.Union([Type.Array(Type.String()), Type.Null()], { description })
const boundOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })

/** How far a run is, in cells. */
const progress = {
  done: Type.Integer({ description: 'Cells that are settled: computed, failed or left alone.' }),
  total: Type.Integer({ description: 'Cells that the run is about.' }),
  materialized: Type.Integer({ description: 'Cells computed; of a revert, put back.' }),
  skipped: Type.Integer({ description: 'Cells left alone; of a revert, conflicts.' }),
  failed: Type.Integer(),
  calls: Type.Integer({ description: 'Calls begun; each counts once, however often it was tried.' }),
  total_cost: Type.Number({ description: 'Dollars.' }),
  unpriced_calls: Type.Integer({
    description: 'Of the calls, those to hosts without `cost_per_call`: `total_cost` knows nothing of them.',
  }),
  left: Type.Integer({
    description: 'Of the skipped cells, those with work that `max_calls` or `max_cost` left no room for.',
  }),
  manual_left: Type.Integer({
    description: 'Of the cells that had a value written by hand when the run began, those that keep it.',
  }),
  manual_overwritten: Type.Integer({
    description: 'Those of them that the run computed: the values are lost.',
  }),
}

/** A run, as lists and frames show it. */
export const RunSummary = Type.Object({
  id: Type.String(),
  kind: Type.Union([Type.Literal('materialize'), Type.Literal('revert')]),
  reverts: textOrNull('The run that a revert puts back.'),
  state: Type.String({ description: '`running`, `finished`, `failed`, `cancelled` or `interrupted`.' }),
  actor: Type.String(),
  targets: namesOrNull('As the request had them; null when it did not filter.'),
  record_count: Type.Union([Type.Integer(), Type.Null()], {
    description: 'How many records the request names; null when it did not filter.',
  }),
  force: Type.Boolean(),
  overwrite_manual: Type.Boolean({
    description: 'Whether it computed cells that were written by hand, too.',
  }),
  only: textOrNull('`missing`, `stale` or `failed` when only cells in that state were asked for.'),
  limit: boundOrNull('Records at most.'),
  max_calls: boundOrNull('Calls at most.'),
  max_cost: boundOrNull('Dollars at most.'),
  stop_after_failures: boundOrNull('Failures in a row at one host that end the run.'),
  reuse_responses: Type.Boolean({ description: 'Whether kept responses were used instead of calls.' }),
  keep_fresh: Type.Optional(
    Type.String({
      description:
        'The derivation file whose stale cells were marked as fresh; absent where cells were computed.',
    }),
  ),
  started_at: Type.String(),
  ended_at: textOrNull('Null while it runs.'),
  ...progress,
  error: Type.Union([Type.Object({ type: Type.String(), message: Type.String() }), Type.Null()], {
    description: 'What ended it early.',
  }),
  cancelled_by: textOrNull('Who asked it to end.'),
})
export type RunSummary = Static<typeof RunSummary>

/** A run, as `GET /api/runs/{id}` answers it. */
export const RunAnswer = Type.Object({
  ...RunSummary.properties,
  record_ids: namesOrNull('As the request had them; null when it did not filter.'),
})
export type RunAnswer = Static<typeof RunAnswer>

/** Path of what is about one run. */
export const RunParams = Type.Object({ id: Type.String({ description: 'The run’s id.' }) })

/** Query of `GET /api/runs` and `GET /api/runs/{id}/failures`. */
export const RunPageQuery = closedObject({
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(cursorParameter('A `next_cursor` of the same list.')),
})

const nextCursor = textOrNull('Null exactly when nothing follows.')

/** Answer of `GET /api/runs`. */
export const RunListAnswer = Type.Object({ runs: Type.Array(RunSummary), next_cursor: nextCursor })
export type RunListAnswer = Static<typeof RunListAnswer>

/** Answer of `GET /api/runs/{id}/failures`. */
export const RunFailuresAnswer = Type.Object({
  failures: Type.Array(
    Type.Object({
      record_id: Type.String(),
      field: Type.String(),
      error: Type.String(),
      error_type: Type.String(),
      response_body: responseBody,
      at: Type.String(),
    }),
  ),
  next_cursor: nextCursor,
})
export type RunFailuresAnswer = Static<typeof RunFailuresAnswer>

/** Body of `POST /api/runs/{id}/cancel`. */
export const CancelRunBody = closedObject({
  actor: Type.Optional(actorMember('Who cancels; the server default when absent.')),
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
      state: Type.String({ description: '`fresh` or `failed`.' }),
      value: Type.Optional(
        Type.Unknown({ description: 'Of a fresh cell, unless it is longer than about 1,000 characters.' }),
      ),
      error: Type.Optional(Type.String()),
      error_type: Type.Optional(Type.String()),
    }),
  ),
  omitted: Type.Integer({ description: 'Further cells that were stored and are not listed.' }),
})

/** Payload of a frame of `GET /api/runs/{id}/events`; that of `run.end` is the run. */
export const RunFrameAnswer = Type.Union([
  RunProgressFrame,
  RunCellsFrame,
  RunSummary,
  Type.Object(
    {},
    {
      additionalProperties: false,
      description: 'Of `frames.missed`, which only servers that share their frames send.',
    },
  ),
])

/** Turns a run with the records it was asked for into its wire form. */
export function toRunAnswer({ run, recordIds }: RunDetail): RunAnswer {
  return { ...toRunSummary(run), record_ids: recordIds && [...recordIds] }
}

/** Turns a run into its wire form. */
export function toRunSummary(run: StoredRun): RunSummary {
  return {
    id: run.id,
    kind: run.kind,
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
    error: run.error && { type: run.error.type, message: run.error.message.toWellFormed() },
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

/** Turns a page of runs into its wire form. */
export function toRunListAnswer({ runs, nextCursor: next }: RunList): RunListAnswer {
  return { runs: runs.map(toRunSummary), next_cursor: next }
}

/** Turns a page of failures into its wire form. */
export function toRunFailuresAnswer({ failures, nextCursor: next }: RunFailureList): RunFailuresAnswer {
  return {
    failures: failures.map(({ recordId, field, error, errorType, responseBody: received, at }) => ({
      record_id: recordId,
      field,
      error,
      error_type: errorType,
      ...(received !== undefined && { response_body: received }),
      at,
    })),
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
  if (cell.state === 'failed') return { ...common, error: cell.error, error_type: cell.error_type }
  return cell.value === undefined ? common : { ...common, value: cell.value }
}
