import type { OutgoingHttpHeaders } from 'node:http'
import { cancelRun } from '../../sheet/cancel-run.ts'
import { getRunDetail, listRunFailures, listRuns } from '../../sheet/read-runs.ts'
import { watchRun } from '../../sheet/watch-run.ts'
import { NoQuery } from '../../wire/contract.ts'
import { wholeNumber } from '../../wire/page-parameters.ts'
import {
  CancelRunBody,
  renderRunFrame,
  RunAnswer,
  RunFailuresAnswer,
  RunListAnswer,
  RunPageQuery,
  toRunAnswer,
  toRunFailuresAnswer,
  toRunListAnswer,
} from '../../wire/runs.ts'
import type { Api, RouteContext } from '../route-context.ts'
import { STREAM_HEADERS } from '../sse.ts'

interface RunParams {
  readonly id: string
}

/** `/api/runs` and what is below it. */
export function runsRoutes(app: Api, { sheet, streams, actors, read, write }: RouteContext): void {
  const listSchema = { querystring: RunPageQuery, response: { 200: RunListAnswer } }
  app.get('/api/runs', { ...read, schema: listSchema }, async ({ query }) =>
    toRunListAnswer(await listRuns(sheet, pageOf(query))),
  )

  const runSchema = { querystring: NoQuery, response: { 200: RunAnswer } }
  app.get('/api/runs/:id', { ...read, schema: runSchema }, async ({ params }) =>
    toRunAnswer(await getRunDetail(sheet, (params as RunParams).id)),
  )

  const failuresSchema = { querystring: RunPageQuery, response: { 200: RunFailuresAnswer } }
  app.get('/api/runs/:id/failures', { ...read, schema: failuresSchema }, async ({ params, query }) =>
    toRunFailuresAnswer(await listRunFailures(sheet, (params as RunParams).id, pageOf(query))),
  )

  const watchOptions = { ...read, schema: { querystring: NoQuery }, exposeHeadRoute: false }
  app.get('/api/runs/:id/events', watchOptions, async ({ params }, reply) => {
    const watch = await watchRun(sheet, (params as RunParams).id)
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...STREAM_HEADERS }
    streams.open(reply.raw, headers, { ...watch, render: renderRunFrame })
  })

  const cancelSchema = { querystring: NoQuery, body: CancelRunBody, response: { 200: RunAnswer } }
  app.post('/api/runs/:id/cancel', { ...write, schema: cancelSchema }, async (request) => {
    const { id } = request.params as RunParams
    await cancelRun(sheet, id, actors.ofBody(request, request.body.actor))
    return toRunAnswer(await getRunDetail(sheet, id))
  })
}

function pageOf({ limit, cursor }: { limit?: string; cursor?: string }): {
  limit: number | null
  cursor: string | null
} {
  return { limit: wholeNumber(limit), cursor: cursor ?? null }
}

/** Where a run is to be found. */
export function runPath(id: string): string {
  return `/api/runs/${encodeURIComponent(id)}`
}
