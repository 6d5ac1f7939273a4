import { Type, type Static } from 'typebox'
import type { RunPlan, TargetPlan } from '../../derivation/run-request.ts'
import type { RUN_LIMITS } from '../../sheet/runs/selection/run-limits.ts'
import type { CamelKeys } from '../schema/camel-keys.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { DerivationFile, TargetName } from '../schema/names.ts'

/** As many as the service takes: see `run-limits.ts`. */
const MOST: Pick<typeof RUN_LIMITS, 'targets' | 'records'> = { targets: 2000, records: 100_000 }

/** Body of `POST /api/materialize`. */
export const MaterializeBody = closedObject({
  targets: Type.Optional(
    Type.Array(TargetName, {
      maxItems: MOST.targets,
      description: 'Only these target fields.',
      ...inDocument({ exampleOf: 'targets' }),
    }),
  ),
  record_ids: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: MOST.records,
      description: 'Only these records. At most 4 MiB.',
      ...inDocument({ exampleOf: 'recordIds' }),
    }),
  ),
  force: Type.Optional(
    Type.Boolean({
      description: 'Compute again even what is fresh or in the cache, but not what was written by hand.',
    }),
  ),
  actor: Type.Optional(actorMember('Who runs it; the server default when absent.')),
  only: Type.Optional(
    Type.Union([Type.Literal('missing'), Type.Literal('stale'), Type.Literal('failed')], {
      title: 'missing, stale or failed',
      description: 'Only cells in this state.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      title: 'a whole number, at least 1',
      description:
        'Only so many records that have work: first those that did not fail, then those that failed the longest ago.',
    }),
  ),
  max_calls: Type.Optional(
    Type.Integer({
      minimum: 0,
      title: 'a whole number, at least 0',
      description: 'No call starts beyond so many; the rest counts as skipped.',
    }),
  ),
  max_cost: Type.Optional(
    Type.Number({
      minimum: 0,
      title: 'a number of dollars, at least 0',
      description:
        'No call starts that would bring the cost above so many dollars; the rest counts as skipped.',
    }),
  ),
  reuse_responses: Type.Optional(
    Type.Boolean({
      description:
        'Use the responses that the sheet has kept instead of making calls. By default every call is made.',
    }),
  ),
  overwrite_manual: Type.Optional(
    Type.Boolean({
      description:
        'With `force`: compute cells that were written by hand, too; their values are lost. `403` where the actor may not write such a field by hand.',
    }),
  ),
  keep_fresh: Type.Optional(
    Type.String({
      minLength: 1,
      title: 'the name of a derivation file',
      description:
        'Compute nothing: mark the stale cells of this edited derivation file as fresh, since their values still hold. Goes with `targets` and `record_ids` only.',
      ...inDocument({ allOf: [DerivationFile], minLength: undefined }),
    }),
  ),
  stop_after_failures: Type.Optional(
    Type.Integer({
      minimum: 0,
      title: 'a whole number, at least 0',
      description:
        'End the run after so many failures in a row at one host, and at once after a 401, 402 or 403; the rest counts as skipped. 0: go on over failures.',
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({
      description: 'Run nothing, and answer with what would be computed and what it would cost.',
    }),
  ),
})
export type MaterializeBody = Static<typeof MaterializeBody>

const NOT_SET = { enum: [false, null] }
const NULL = { type: 'null' }

/** What else the use case checks: what `overwrite_manual` needs, and members that do not go with `keep_fresh`. */
export const MATERIALIZE_RULES = {
  anyOf: [
    { properties: { keep_fresh: NULL, overwrite_manual: NOT_SET } },
    { properties: { keep_fresh: NULL, force: { const: true }, only: NULL }, required: ['force'] },
    {
      properties: {
        force: NOT_SET,
        overwrite_manual: NOT_SET,
        only: NULL,
        limit: NULL,
        max_calls: NULL,
        max_cost: NULL,
        reuse_responses: NOT_SET,
      },
    },
  ],
}

/** A cell that failed. */
export const FailureAnswer = Type.Object({
  record_id: Type.String(),
  field: Type.String(),
  error: Type.String({
    description: 'For http `<METHOD> <URL> -> ` and the status or what went wrong.',
  }),
  error_type: Type.String(),
})

/** Answer of `POST /api/materialize` (specification, "Materialization envelope"; exactly these four members, D30). */
export const MaterializeAnswer = Type.Object({
  materialized: Type.Integer({ description: 'Cells computed.' }),
  skipped: Type.Integer({ description: 'Cells not recomputed.' }),
  failures: Type.Array(FailureAnswer),
  total_cost: Type.Number(),
})
export type MaterializeAnswer = Static<typeof MaterializeAnswer>

/** What a run came to, as the service has it. */
export type MaterializeReport = CamelKeys<Omit<MaterializeAnswer, 'failures'>> & {
  readonly failures: readonly CamelKeys<Static<typeof FailureAnswer>>[]
}

/** Turns what a run came to into its wire form. */
export function toMaterializeAnswer(report: MaterializeReport): MaterializeAnswer {
  return {
    materialized: report.materialized,
    skipped: report.skipped,
    failures: report.failures.map((failure) => ({
      record_id: failure.recordId,
      field: failure.field,
      error: failure.error,
      error_type: failure.errorType,
    })),
    total_cost: report.totalCost,
  }
}

/** Of the skipped cells of a plan, those that the run does not compute because of an input. */
const BlockedAnswer = Type.Object(
  {
    input_failed: Type.Optional(Type.Integer({ description: 'The last try of an input failed.' })),
    input_empty: Type.Optional(
      Type.Integer({ description: 'An input has no value, and the request needs one.' }),
    ),
    input_blocked: Type.Optional(Type.Integer({ description: 'An input is blocked itself.' })),
    input_missing: Type.Optional(
      Type.Integer({ description: 'An input has not been computed yet, and the run does not compute it.' }),
    ),
  },
  {
    description:
      'Of the skipped cells, how many the run does not compute because of an input, by the reason. Absent for none.',
  },
)

const manualLeft = Type.Optional(
  Type.Integer({
    description: 'Of the skipped cells, those that keep a value written by hand. Absent for none.',
  }),
)
const manualOverwritten = Type.Optional(
  Type.Integer({ description: 'Cells that lose a value written by hand. Absent for none.' }),
)

/** Answer of `POST /api/materialize` with `dry_run`. */
export const RunPlanAnswer = Type.Object({
  targets: Type.Record(
    Type.String(),
    Type.Object({
      compute: Type.Integer({ description: 'Cells to be computed by a call.' }),
      cached: Type.Integer({ description: 'Cells to be filled from the cache.' }),
      skipped: Type.Integer({ description: 'Cells left alone.' }),
      left: Type.Optional(
        Type.Integer({
          description: 'Of these, cells with work that `max_calls` or `max_cost` leaves no room for.',
        }),
      ),
      blocked: Type.Optional(BlockedAnswer),
      retry_later: Type.Optional(
        Type.Object(
          {
            cells: Type.Integer(),
            next: Type.Union([Type.String(), Type.Null()], {
              description: 'When the first of them is tried again; null for never.',
            }),
          },
          {
            description:
              'Of the skipped cells, those that failed and are not tried again yet (`retry_failed_after` of the derivation). Absent for none.',
          },
        ),
      ),
      manual_left: manualLeft,
      manual_overwritten: manualOverwritten,
      kept_responses: Type.Optional(
        Type.Object(
          {
            calls: Type.Integer(),
            oldest: Type.String({ description: 'When the oldest of the responses was received.' }),
            newest: Type.String(),
          },
          {
            description:
              'Calls for which the sheet has kept a response; absent when there are none. With `reuse_responses` they are not made, and their cells count as `cached`.',
          },
        ),
      ),
    }),
  ),
  calls: Type.Integer(),
  cost: Type.Number({ description: 'Dollars.' }),
  unpriced_calls: Type.Optional(
    Type.Integer({
      description: 'Of the calls, those to hosts without `cost_per_call`: `cost` knows nothing of them.',
    }),
  ),
  manual_left: manualLeft,
  manual_overwritten: manualOverwritten,
  not_ready: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What the run would be refused for, such as an environment variable that is not set.',
    }),
  ),
  stop_after_failures: Type.Optional(
    Type.Integer({ description: 'As in the request; absent when the run goes on over failures.' }),
  ),
  at_most: Type.Optional(
    Type.Literal(true, {
      description:
        'There when calls and cost are upper bounds, since inputs are themselves computed in the run.',
    }),
  ),
})
export type RunPlanAnswer = Static<typeof RunPlanAnswer>

/** What a run would do, as the service has it. */
interface PlanReport extends RunPlan {
  readonly notReady: readonly string[]
  readonly stopAfterFailures: number | null
}

/** Turns what a run would do into its wire form. */
export function toRunPlanAnswer(plan: PlanReport): RunPlanAnswer {
  const { targets, calls, cost, unpricedCalls, notReady, stopAfterFailures, atMost } = plan
  return {
    targets: Object.fromEntries(
      Object.entries(targets).map(([target, cells]) => [target, toTargetPlan(cells)]),
    ),
    calls,
    cost,
    ...(unpricedCalls !== undefined && { unpriced_calls: unpricedCalls }),
    ...toManual(plan),
    ...(notReady.length > 0 && { not_ready: [...notReady] }),
    ...(stopAfterFailures !== null && { stop_after_failures: stopAfterFailures }),
    ...(atMost && { at_most: true as const }),
  }
}

function toTargetPlan(plan: TargetPlan): RunPlanAnswer['targets'][string] {
  const { kept, retryLater, manualLeft: _left, manualOverwritten: _overwritten, ...cells } = plan
  return {
    ...cells,
    ...(retryLater !== undefined && { retry_later: { ...retryLater } }),
    ...(kept !== undefined && { kept_responses: { ...kept } }),
    ...toManual(plan),
  }
}

function toManual({
  manualLeft: left,
  manualOverwritten: overwritten,
}: Pick<TargetPlan, 'manualLeft' | 'manualOverwritten'>): Pick<
  RunPlanAnswer,
  'manual_left' | 'manual_overwritten'
> {
  return {
    ...(left !== undefined && { manual_left: left }),
    ...(overwritten !== undefined && { manual_overwritten: overwritten }),
  }
}
