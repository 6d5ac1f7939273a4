import type { OutgoingHttpHeaders } from 'node:http'
import { NoQuery } from '../../wire/contract.ts'
import type { Api, RouteContext } from '../route-context.ts'

/** `GET /events`: the stream of frames (specification, "Events"). */
export function eventsRoutes(app: Api, { streams, read }: RouteContext): void {
  const options = { ...read, schema: { querystring: NoQuery }, exposeHeadRoute: false }
  app.get('/events', options, (_request, reply) => {
    reply.hijack()
    streams.open(reply.raw, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': 'text/event-stream; charset=utf-8',
      // The connection serves nothing else afterwards; and proxies shall not collect frames.
      connection: 'close',
      'x-accel-buffering': 'no',
    })
  })
}
