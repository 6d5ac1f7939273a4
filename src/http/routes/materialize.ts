import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { startMaterialize } from '../../sheet/runs/materialize.ts'
import { planMaterialize } from '../../sheet/runs/plan-materialize.ts'
import { getRunDetail } from '../../sheet/runs/read-runs.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import {
  MATERIALIZE_RULES,
  MaterializeAnswer,
  MaterializeBody,
  RunPlanAnswer,
  toMaterializeAnswer,
  toRunPlanAnswer,
} from '../../wire/runs/materialize.ts'
import { RunAnswer, toRunAnswer } from '../../wire/runs/runs.ts'
import { sendJson } from '../response/json-response.ts'
import { FAILURES_AT_ONCE, materializeText } from '../response/materialize-json.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'
import { runPath } from './runs.ts'

const MATERIALIZE: Operation = {
  id: 'materialize',
  tag: 'Runs',
  summary: 'Compute derived fields',
  description:
    'Computes cells that are missing, stale or failed, with `force` fresh ones too, and manual values only with `overwrite_manual`. Responds when the run has ended, with the failures of single cells. With `Prefer: respond-async` the response is a `202` as soon as the run has started; with `dry_run` nothing runs, and the response is the plan.',
  errors: [409],
  headers: ['Prefer'],
  bodyRules: MATERIALIZE_RULES,
  answers: {
    200: { description: 'The result of the run, or with `dry_run` the plan.', headers: ['Location'] },
    202: { description: 'The run has started.', headers: ['Location', 'Preference-Applied'] },
  },
}

/** `POST /api/materialize`; the operation publishes the frames (`docs/reference/events.md`; D40). */
export function materializeRoutes(app: Api, { sheet, actors, write }: RouteContext): void {
  const schema = {
    querystring: NoQuery,
    body: MaterializeBody,
    response: { 200: Type.Union([MaterializeAnswer, RunPlanAnswer]), 202: RunAnswer },
  }
  app.post(
    '/api/materialize',
    { ...write, schema, config: { operation: MATERIALIZE } },
    async (request, reply) => {
      const { actor, dry_run: dryRun, ...body } = request.body
      const selection = {
        targets: body.targets ?? null,
        recordIds: body.record_ids ?? null,
        force: body.force ?? false,
        overwriteManual: body.overwrite_manual ?? false,
        only: body.only ?? null,
        limit: body.limit ?? null,
        maxCalls: body.max_calls ?? null,
        maxCost: body.max_cost ?? null,
        reuseResponses: body.reuse_responses ?? false,
        keepFresh: body.keep_fresh ?? undefined,
        stopAfterFailures: body.stop_after_failures ?? null,
      }
      const order = { ...selection, actor: actors.ofBody(request, actor) }
      if (dryRun === true) return toRunPlanAnswer(await planMaterialize(sheet, order))
      const run = await startMaterialize(sheet, order)
      reply.header('location', runPath(run.id))
      if (!prefersAsync(request)) {
        const report = await run.done
        return report.failures.length <= FAILURES_AT_ONCE
          ? toMaterializeAnswer(report)
          : sendJson(reply, Readable.from(materializeText(report)))
      }
      reply.code(202).header('preference-applied', 'respond-async')
      return toRunAnswer(await getRunDetail(sheet, run.id))
    },
  )
}

/** Whether the client prefers not to wait (RFC 7240, section 4.1). */
function prefersAsync(request: FastifyRequest): boolean {
  const preferences = [request.headers['prefer'] ?? []].flat().join(',')
  return preferences.split(',').some((one) => /^\s*respond-async\s*(?:;|$)/i.test(one))
}
