import type { OutgoingHttpHeaders } from 'node:http'
import { watchSheet } from '../../sheet/watch-sheet.ts'
import { renderSheetFrame, SheetFrame } from '../../wire/changes.ts'
import { NoQuery } from '../../wire/contract.ts'
import { renderFrame, WireFrame } from '../../wire/frames.ts'
import type { Operation } from '../operation.ts'
import type { Api, RouteContext } from '../route-context.ts'
import { STREAM_HEADERS } from '../sse.ts'

const RUNS: Operation = {
  id: 'watchRuns',
  tag: 'Events',
  summary: 'Watch the runs of the sheet',
  description:
    'A stream of frames: `materialize.start` when a run begins, then `materialize.end` or `materialize.error`. Nothing is sent again: a client that was away reads `GET /api/runs`.',
  answers: { 200: { content: { 'text/event-stream': WireFrame } } },
}
const SHEET: Operation = {
  id: 'watchSheet',
  tag: 'Events',
  summary: 'Watch how the sheet stands',
  description: 'A stream of `sheet` frames, the first at once: what changes in one tells what to read again.',
  answers: { 200: { content: { 'text/event-stream': SheetFrame } } },
}

/** `GET /events`: the stream of frames (specification, "Events"), and `GET /api/sheet/events`: how the sheet stands. */
export function eventsRoutes(app: Api, { sheet, streams, read }: RouteContext): void {
  const options = { ...read, schema: { querystring: NoQuery } }
  app.get('/events', { ...options, config: { operation: RUNS } }, (_request, reply) => {
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...STREAM_HEADERS }
    streams.open(reply.raw, headers, {
      subscribe: (...subscriber) => sheet.events.subscribe(...subscriber),
      render: renderFrame,
    })
  })

  app.get('/api/sheet/events', { ...options, config: { operation: SHEET } }, async (_request, reply) => {
    const watch = await watchSheet(sheet)
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...STREAM_HEADERS }
    streams.open(reply.raw, headers, { ...watch, render: renderSheetFrame })
  })
}
