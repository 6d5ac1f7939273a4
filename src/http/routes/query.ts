import { runQuery } from '../../sheet/run-query.ts'
import { NoQuery } from '../../wire/contract.ts'
import { QueryBody } from '../../wire/query.ts'
import { sendJson } from '../json-reply.ts'
import type { Api, RouteContext } from '../route-context.ts'
import { whileConnected } from '../while-connected.ts'

/** `POST /api/query` (D18, D19): reads only, so it needs no CSRF token. */
export function queryRoutes(app: Api, { sheet, read }: RouteContext): void {
  const schema = { querystring: NoQuery, body: QueryBody }
  app.post('/api/query', { ...read, schema }, async (request, reply) => {
    const { sql, params, columns } = request.body
    const statement = { sql, params: params ?? [], columns: columns ?? false }
    return sendJson(reply, await whileConnected(request, (signal) => runQuery(sheet, statement, signal)))
  })
}
