import { readDialect } from '../../sheet/queries/read-dialect.ts'
import { runQuery } from '../../sheet/queries/run-query.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import { DIALECT } from '../../wire/schema/dialect.ts'
import { QueryAnswer, QueryBody } from '../../wire/records/query.ts'
import { DialectAnswer, DialectQuery } from '../../wire/records/sql.ts'
import { sendJson } from '../response/json-response.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'

const QUERY: Operation = {
  id: 'runQuery',
  tag: 'Records',
  summary: 'Run a read-only SQL query',
  description: `One \`SELECT\` or \`WITH … SELECT\` over the table \`records\`, in the dialect of ${DIALECT}. It has a deadline, a limit on its memory, and one on its rows; an answer that was cut has \`truncated\`.`,
  answers: { 200: { content: { 'application/json': QueryAnswer } } },
}

const GET_DIALECT: Operation = {
  id: 'getSqlDialect',
  tag: 'Sheet',
  summary: 'Get the SQL dialect',
  description:
    'The dialect of filters and queries; and a condition `where` as a filter in it, to edit as SQL.',
}

/** `POST /api/query` and `GET /api/sql` (D18, D19): both only read, so they need no CSRF token. */
export function queryRoutes(app: Api, { sheet, read }: RouteContext): void {
  const dialectSchema = { querystring: DialectQuery, response: { 200: DialectAnswer } }
  app.get('/api/sql', { ...read, schema: dialectSchema, config: { operation: GET_DIALECT } }, ({ query }) =>
    readDialect(sheet, query.where),
  )

  const schema = { querystring: NoQuery, body: QueryBody }
  app.post('/api/query', { ...read, schema, config: { operation: QUERY } }, async (request, reply) => {
    const { sql, params, columns } = request.body
    const statement = { sql, params: params ?? [], columns: columns ?? false }
    return sendJson(reply, await whileConnected(request, (signal) => runQuery(sheet, statement, signal)))
  })
}
