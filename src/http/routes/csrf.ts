import { NoQuery } from '../../wire/contract.ts'
import { CsrfAnswer } from '../../wire/csrf.ts'
import type { Api, RouteContext } from '../route-context.ts'

/** `GET /api/csrf`: the token of the cookie that the answer sets (specification, "Authentication"). */
export function csrfRoutes(app: Api, { read }: RouteContext): void {
  const schema = { querystring: NoQuery, response: { 200: CsrfAnswer } }
  app.get('/api/csrf', { ...read, schema }, (request) => ({ csrf_token: request.csrfToken }))
}
