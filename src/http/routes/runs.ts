import type { OutgoingHttpHeaders } from 'node:http'
import { cancelRun } from '../../sheet/runs/cancel-run.ts'
import { getRunDetail, listRunFailures, listRuns } from '../../sheet/runs/read-runs.ts'
import { watchRun } from '../../sheet/runs/watch/watch-run.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import { wholeNumber } from '../../wire/schema/page-parameters.ts'
import {
  CancelRunBody,
  renderRunFrame,
  RunAnswer,
  RunFailuresAnswer,
  RunFailuresQuery,
  RunFrameAnswer,
  RunListAnswer,
  RunPageQuery,
  RunParams,
  toRunAnswer,
  toRunFailuresAnswer,
  toRunListAnswer,
} from '../../wire/runs/runs.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'
import { lastEventId, STREAM_HEADERS } from '../response/event-streams.ts'

const LIST: Operation = {
  id: 'listRuns',
  tag: 'Runs',
  summary: 'List the runs',
  description: 'Newest first, reverts included.',
}
const GET: Operation = { id: 'getRun', tag: 'Runs', summary: 'Get a run', errors: [404] }
const FAILURES: Operation = {
  id: 'listRunFailures',
  tag: 'Runs',
  summary: 'List the cells that failed in a run',
  errors: [404],
}
const WATCH: Operation = {
  id: 'watchRun',
  tag: 'Events',
  summary: 'Watch a run',
  description:
    'A stream of frames: `run.progress` has the progress of the run, `run.cells` the cells that it has stored, and `run.end`, the last, the ended run.',
  errors: [404],
  answers: { 200: { content: { 'text/event-stream': RunFrameAnswer } } },
}
const CANCEL: Operation = {
  id: 'cancelRun',
  tag: 'Runs',
  summary: 'Cancel a run',
  description:
    'No new call starts, calls under way are aborted, stored values are kept. Responds when the run has ended.',
  errors: [404],
}

/** `/api/runs` and the paths below it. */
export function runsRoutes(app: Api, { sheet, streams, actors, read, write }: RouteContext): void {
  const listSchema = { querystring: RunPageQuery, response: { 200: RunListAnswer } }
  app.get('/api/runs', { ...read, schema: listSchema, config: { operation: LIST } }, async ({ query }) =>
    toRunListAnswer(await listRuns(sheet, pageOf(query))),
  )

  const runSchema = { params: RunParams, querystring: NoQuery, response: { 200: RunAnswer } }
  app.get('/api/runs/:id', { ...read, schema: runSchema, config: { operation: GET } }, async ({ params }) =>
    toRunAnswer(await getRunDetail(sheet, params.id)),
  )

  const failuresSchema = {
    params: RunParams,
    querystring: RunFailuresQuery,
    response: { 200: RunFailuresAnswer },
  }
  app.get(
    '/api/runs/:id/failures',
    { ...read, schema: failuresSchema, config: { operation: FAILURES } },
    async ({ params, query }) =>
      toRunFailuresAnswer(
        await listRunFailures(sheet, params.id, { ...pageOf(query), group: query.group ?? null }),
      ),
  )

  const watchOptions = {
    ...read,
    schema: { params: RunParams, querystring: NoQuery },
    config: { operation: WATCH },
  }
  app.get('/api/runs/:id/events', watchOptions, async (request, reply) => {
    const watch = await watchRun(sheet, request.params.id, lastEventId(request))
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...STREAM_HEADERS }
    streams.open(reply.raw, headers, { ...watch, render: renderRunFrame })
  })

  const cancelSchema = {
    params: RunParams,
    querystring: NoQuery,
    body: CancelRunBody,
    response: { 200: RunAnswer },
  }
  app.post(
    '/api/runs/:id/cancel',
    { ...write, schema: cancelSchema, config: { operation: CANCEL } },
    async (request) => {
      const { id } = request.params
      await cancelRun(sheet, id, actors.ofBody(request, request.body.actor))
      return toRunAnswer(await getRunDetail(sheet, id))
    },
  )
}

function pageOf({ limit, cursor }: { limit?: string; cursor?: string }): {
  limit: number | null
  cursor: string | null
} {
  return { limit: wholeNumber(limit), cursor: cursor ?? null }
}

/** Returns the path of a run. */
export function runPath(id: string): string {
  return `/api/runs/${encodeURIComponent(id)}`
}
