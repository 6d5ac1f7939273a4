import { Type, type Static } from 'typebox'
import type { RunPlan, TargetPlan, UsageEstimate } from '../../derivation/run-request.ts'
import type { RUN_LIMITS } from '../../sheet/runs/selection/run-limits.ts'
import type { CamelKeys } from '../schema/camel-keys.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { DerivationFile, TargetName } from '../schema/names.ts'

/** The limits of the service; see `run-limits.ts`. */
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
      description: 'Recompute fresh and cached cells too, but no manual values.',
    }),
  ),
  actor: Type.Optional(actorMember('The actor of the run; the server default when absent.')),
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
        'Only this many records with pending cells: first those that did not fail, then those whose failure is oldest.',
    }),
  ),
  max_calls: Type.Optional(
    Type.Integer({
      minimum: 0,
      title: 'a whole number, at least 0',
      description: 'Maximum number of calls; cells beyond it count as skipped.',
    }),
  ),
  max_cost: Type.Optional(
    Type.Number({
      minimum: 0,
      title: 'a number of dollars, at least 0',
      description: 'Maximum cost in dollars; cells whose call would exceed it count as skipped.',
    }),
  ),
  reuse_responses: Type.Optional(
    Type.Boolean({
      description: 'Use kept responses instead of making calls (default: false).',
    }),
  ),
  overwrite_manual: Type.Optional(
    Type.Boolean({
      description:
        'With `force`: overwrite manual values. `403` if the actor may not write one of these fields.',
    }),
  ),
  keep_fresh: Type.Optional(
    Type.String({
      minLength: 1,
      title: 'the name of a derivation file',
      description:
        'Compute nothing: mark the stale cells of this edited derivation file as fresh. Allows `targets` and `record_ids` only.',
      ...inDocument({ allOf: [DerivationFile], minLength: undefined }),
    }),
  ),
  stop_after_failures: Type.Optional(
    Type.Integer({
      minimum: 0,
      title: 'a whole number, at least 0',
      description:
        'End the run after this many consecutive failures at one host, and at once after a 401, 402 or 403; the rest counts as skipped. 0: never.',
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({
      description: 'Compute nothing; return the plan of the run, with calls and cost.',
    }),
  ),
})
export type MaterializeBody = Static<typeof MaterializeBody>

const NOT_SET = { enum: [false, null] }
const NULL = { type: 'null' }

/** Rules that the operation checks: `overwrite_manual` requires `force`; `keep_fresh` excludes most other members. */
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
    description: 'For http: `<METHOD> <URL> -> ` and the status or the failure.',
  }),
  error_type: Type.String(),
})

/** Response of `POST /api/materialize` (`docs/reference/http.md`; exactly these four members, D30). */
export const MaterializeAnswer = Type.Object({
  materialized: Type.Integer({ description: 'Cells computed.' }),
  skipped: Type.Integer({ description: 'Cells not recomputed.' }),
  failures: Type.Array(FailureAnswer),
  total_cost: Type.Number(),
})
export type MaterializeAnswer = Static<typeof MaterializeAnswer>

/** The result of a run, in camelCase. */
export type MaterializeReport = CamelKeys<Omit<MaterializeAnswer, 'failures'>> & {
  readonly failures: readonly CamelKeys<Static<typeof FailureAnswer>>[]
}

/** Converts the result of a run to the wire format. */
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

/** The skipped cells of a plan that a run cannot compute because of an input. */
const BlockedAnswer = Type.Object(
  {
    input_failed: Type.Optional(
      Type.Integer({ description: 'The last attempt to compute an input failed.' }),
    ),
    input_empty: Type.Optional(Type.Integer({ description: 'A required input has no value.' })),
    input_blocked: Type.Optional(Type.Integer({ description: 'An input is itself blocked.' })),
    input_missing: Type.Optional(
      Type.Integer({ description: 'An input is missing, and this run does not compute it.' }),
    ),
  },
  {
    description:
      'Of the skipped cells, the number that the run cannot compute because of an input, by reason. Absent for none.',
  },
)

const manualLeft = Type.Optional(
  Type.Integer({
    description: 'Of the skipped cells, those that keep a manual value. Absent for none.',
  }),
)
const manualOverwritten = Type.Optional(
  Type.Integer({ description: 'Cells whose manual value is overwritten. Absent for none.' }),
)

/** Response of `POST /api/materialize` with `dry_run`. */
export const RunPlanAnswer = Type.Object({
  targets: Type.Record(
    Type.String(),
    Type.Object({
      compute: Type.Integer({ description: 'Cells to compute with a call.' }),
      cached: Type.Integer({ description: 'Cells to fill from the cache.' }),
      skipped: Type.Integer({ description: 'Cells that do not change.' }),
      left: Type.Optional(
        Type.Integer({
          description: 'Of these, pending cells beyond `max_calls` or `max_cost`.',
        }),
      ),
      blocked: Type.Optional(BlockedAnswer),
      retry_later: Type.Optional(
        Type.Object(
          {
            cells: Type.Integer(),
            next: Type.Union([Type.String(), Type.Null()], {
              description: 'The time from which the first of them is tried again; null for never.',
            }),
          },
          {
            description:
              'Of the skipped cells, failed cells that are not tried again yet (`retry_failed_after` of the derivation). Absent for none.',
          },
        ),
      ),
      manual_left: manualLeft,
      manual_overwritten: manualOverwritten,
      kept_responses: Type.Optional(
        Type.Object(
          {
            calls: Type.Integer(),
            oldest: Type.String({ description: 'The time when the oldest of the responses was received.' }),
            newest: Type.String(),
          },
          {
            description:
              'Calls for which the sheet keeps a response; absent for none. With `reuse_responses` they are not made, and their cells count as `cached`.',
          },
        ),
      ),
    }),
  ),
  calls: Type.Integer(),
  cost: Type.Number({ description: 'Dollars; for calls of models the most that they can cost.' }),
  range: Type.Optional(
    Type.Object(
      {
        least: Type.Object(
          { calls: Type.Integer(), cost: Type.Number() },
          { description: 'The calls that are made whatever the steps bring.' },
        ),
        expected: Type.Optional(
          Type.Object(
            {
              calls: Type.Integer(),
              cost: Type.Number(),
              results: Type.Integer({ description: 'The results of steps so far that this is from.' }),
            },
            { description: 'Absent until each step has 20 results.' },
          ),
        ),
      },
      { description: 'Present if steps of fallbacks may turn out not to be needed. Dollars.' },
    ),
  ),
  estimate: Type.Optional(
    Type.Object(
      {
        input_tokens: Type.Integer(),
        output_tokens: Type.Integer(),
        cost: Type.Number({ description: 'Dollars, with calls of other kinds.' }),
        basis: Type.Union([Type.Literal('results'), Type.Literal('bytes'), Type.Literal('both')], {
          description:
            'results: the mean of earlier results of each derivation; bytes: the length of the prompts, four bytes count as a token; both: the derivations differ.',
        }),
        results: Type.Optional(Type.Integer({ description: 'The earlier results; absent for none.' })),
      },
      { description: 'An estimate of what the calls use; present if models are called.' },
    ),
  ),
  unpriced_calls: Type.Optional(
    Type.Integer({
      description: 'Of the calls, those to hosts without `cost_per_call`, which `cost` does not include.',
    }),
  ),
  manual_left: manualLeft,
  manual_overwritten: manualOverwritten,
  not_ready: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Reasons why the run would fail at its start, such as an unset environment variable.',
    }),
  ),
  stop_after_failures: Type.Optional(
    Type.Integer({ description: 'As in the request; absent for no such bound.' }),
  ),
  at_most: Type.Optional(
    Type.Literal(true, {
      description:
        'Present when calls and cost are upper bounds, because the run also computes inputs, or steps of fallbacks may not be needed.',
    }),
  ),
})
export type RunPlanAnswer = Static<typeof RunPlanAnswer>

/** The plan of a run, in camelCase. */
interface PlanReport extends RunPlan {
  readonly notReady: readonly string[]
  readonly stopAfterFailures: number | null
}

/** Converts the plan of a run to the wire format. */
export function toRunPlanAnswer(plan: PlanReport): RunPlanAnswer {
  const { targets, calls, cost, range, estimate, unpricedCalls, notReady, stopAfterFailures, atMost } = plan
  return {
    targets: Object.fromEntries(
      Object.entries(targets).map(([target, cells]) => [target, toTargetPlan(cells)]),
    ),
    calls,
    cost,
    ...(range !== undefined && {
      range: {
        least: { ...range.least },
        ...(range.expected !== undefined && { expected: { ...range.expected } }),
      },
    }),
    ...(estimate !== undefined && {
      estimate: {
        input_tokens: estimate.inputTokens,
        output_tokens: estimate.outputTokens,
        cost: estimate.cost,
        basis: basisOf(estimate),
        ...(estimate.results > 0 && { results: estimate.results }),
      },
    }),
    ...(unpricedCalls !== undefined && { unpriced_calls: unpricedCalls }),
    ...toManual(plan),
    ...(notReady.length > 0 && { not_ready: [...notReady] }),
    ...(stopAfterFailures !== null && { stop_after_failures: stopAfterFailures }),
    ...(atMost && { at_most: true as const }),
  }
}

function basisOf({ results, fromBytes }: UsageEstimate): 'results' | 'bytes' | 'both' {
  if (!fromBytes) return 'results'
  return results > 0 ? 'both' : 'bytes'
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
