import type { OutgoingHttpHeaders } from 'node:http'
import { watchSheet } from '../../sheet/watch-sheet.ts'
import { renderSheetFrame } from '../../wire/changes.ts'
import { NoQuery } from '../../wire/contract.ts'
import { renderFrame } from '../../wire/frames.ts'
import type { Api, RouteContext } from '../route-context.ts'
import { STREAM_HEADERS } from '../sse.ts'

/** `GET /events`: the stream of frames (specification, "Events"), and `GET /api/sheet/events`: how the sheet stands. */
export function eventsRoutes(app: Api, { sheet, streams, read }: RouteContext): void {
  const options = { ...read, schema: { querystring: NoQuery }, exposeHeadRoute: false }
  app.get('/events', options, (_request, reply) => {
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...STREAM_HEADERS }
    streams.open(reply.raw, headers, {
      subscribe: (...subscriber) => sheet.events.subscribe(...subscriber),
      render: renderFrame,
    })
  })

  app.get('/api/sheet/events', options, async (_request, reply) => {
    const watch = await watchSheet(sheet)
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...STREAM_HEADERS }
    streams.open(reply.raw, headers, { ...watch, render: renderSheetFrame })
  })
}
