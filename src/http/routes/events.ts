import type { OutgoingHttpHeaders } from 'node:http'
import { watchFrames } from '../../sheet/runs/watch/watch-frames.ts'
import { watchSheet } from '../../sheet/runs/watch/watch-sheet.ts'
import { renderSheetFrame, SheetFrame } from '../../wire/service/sheet-frame.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import { renderFrame, WireFrame } from '../../wire/runs/materialize-frames.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'
import { lastEventId, STREAM_HEADERS } from '../response/event-streams.ts'

const RUNS: Operation = {
  id: 'watchRuns',
  tag: 'Events',
  summary: 'Watch the runs of the sheet',
  description:
    'A stream of frames: `materialize.start` when a run begins, then `materialize.end` or `materialize.error`. Frames are not repeated: a client that reconnects reads `GET /api/runs`. If several servers share a store, frames have ids, and a client that reconnects with `Last-Event-ID` receives the frames that it missed, or `frames.missed` if they are no longer stored.',
  answers: { 200: { content: { 'text/event-stream': WireFrame } } },
}
const SHEET: Operation = {
  id: 'watchSheet',
  tag: 'Events',
  summary: 'Watch the state of the sheet',
  description:
    'A stream of `sheet` frames, the first at once. The members that change show which data to read again.',
  answers: { 200: { content: { 'text/event-stream': SheetFrame } } },
}

/** `GET /events`: the stream of frames (`docs/reference/events.md`), and `GET /api/sheet/events`: the state of the sheet. */
export function eventsRoutes(app: Api, { sheet, streams, read }: RouteContext): void {
  const options = { ...read, schema: { querystring: NoQuery } }
  app.get('/events', { ...options, config: { operation: RUNS } }, async (request, reply) => {
    const watch = await watchFrames(sheet, lastEventId(request))
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...STREAM_HEADERS }
    streams.open(reply.raw, headers, { ...watch, render: renderFrame })
  })

  app.get('/api/sheet/events', { ...options, config: { operation: SHEET } }, async (_request, reply) => {
    const watch = await watchSheet(sheet)
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...STREAM_HEADERS }
    streams.open(reply.raw, headers, { ...watch, render: renderSheetFrame })
  })
}
