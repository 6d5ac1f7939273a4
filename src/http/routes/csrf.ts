import { NoQuery } from '../../wire/definition/contract.ts'
import { CsrfAnswer } from '../../wire/service/csrf.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const GET: Operation = {
  id: 'getCsrfToken',
  tag: 'Service',
  summary: 'Get the CSRF token',
  description:
    'The token that writes send as `X-CSRF-Token`: the value of the cookie `svc_csrf`, which this response sets, as those of all reads do.',
}

/** `GET /api/csrf`: the token in the cookie of the response (`docs/reference/http.md`). */
export function csrfRoutes(app: Api, { read }: RouteContext): void {
  const schema = { querystring: NoQuery, response: { 200: CsrfAnswer } }
  app.get('/api/csrf', { ...read, schema, config: { operation: GET } }, (request, reply) => {
    reply.holdsSecret = true
    return { csrf_token: request.csrfToken }
  })
}
