import { summarizeRecords } from '../../sheet/summarize-records.ts'
import { commaList } from '../../wire/comma-list.ts'
import { SummaryQuery } from '../../wire/summary.ts'
import { sendJson } from '../json-reply.ts'
import type { Api, RouteContext } from '../route-context.ts'
import { whileConnected } from '../while-connected.ts'

/** `GET /api/summary`: how many records there are, and what they have in some fields. */
export function summaryRoutes(app: Api, { sheet, read }: RouteContext): void {
  app.get('/api/summary', { ...read, schema: { querystring: SummaryQuery } }, async (request, reply) => {
    const { fields, filter } = request.query
    const query = { fields: commaList(fields), filter: filter ?? null }
    return sendJson(reply, await whileConnected(request, (signal) => summarizeRecords(sheet, query, signal)))
  })
}
