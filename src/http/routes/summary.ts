import { summarizeRecords } from '../../sheet/queries/summarize-records.ts'
import { commaList } from '../../wire/schema/comma-list.ts'
import { SummaryAnswer, SummaryQuery } from '../../wire/records/summary.ts'
import { sendJson } from '../response/json-response.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'

const GET: Operation = {
  id: 'summarizeRecords',
  tag: 'Records',
  summary: 'Count records and summarize fields',
  description:
    'The number of records that match a filter, and a summary of some fields: missing values, ranges, frequent values.',
  answers: { 200: { content: { 'application/json': SummaryAnswer } } },
}

/** `GET /api/summary`: the number of records, and a summary of the values of some fields. */
export function summaryRoutes(app: Api, { sheet, read }: RouteContext): void {
  app.get(
    '/api/summary',
    { ...read, schema: { querystring: SummaryQuery }, config: { operation: GET } },
    async (request, reply) => {
      const { fields, filter = null, where = null, search = null, totals, ...groups } = request.query
      const query = { ...groups, fields: commaList(fields), filter, where, search, totals: commaList(totals) }
      return sendJson(
        reply,
        await whileConnected(request, (signal) => summarizeRecords(sheet, query, signal)),
      )
    },
  )
}
