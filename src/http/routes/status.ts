import { readStatus } from '../../sheet/read-status.ts'
import { commaList } from '../../wire/comma-list.ts'
import { StatusAnswer, StatusQuery, toStatusAnswer } from '../../wire/status.ts'
import type { Api, RouteContext } from '../route-context.ts'

/** `GET /api/status` (D32). */
export function statusRoutes(app: Api, { sheet, read }: RouteContext): void {
  const schema = { querystring: StatusQuery, response: { 200: StatusAnswer } }
  app.get('/api/status', { ...read, schema }, async (request) =>
    toStatusAnswer(await readStatus(sheet, commaList(request.query.targets))),
  )
}
