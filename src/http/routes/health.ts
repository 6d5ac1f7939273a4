import { NoQuery } from '../../wire/definition/contract.ts'
import { HealthAnswer } from '../../wire/service/health.ts'
import { OperationError } from '../../errors/service-error.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const GET: Operation = {
  id: 'getHealth',
  tag: 'Service',
  summary: 'Check whether the service responds',
  description:
    'A health check: `200` while the process serves requests, `503` once it is stopping. It does not check the sheet: an invalid contract is fixed in its file, not by a restart.',
  errors: [503],
}

/** `GET /api/healthz`: whether the process responds. */
export function healthRoutes(app: Api, { read, isClosing }: RouteContext): void {
  const schema = { querystring: NoQuery, response: { 200: HealthAnswer } }
  app.get('/api/healthz', { ...read, schema, config: { operation: GET } }, () => {
    if (isClosing())
      throw new OperationError('the service is stopping; try again after its restart', 'not_ready')
    return { status: 'ok' as const }
  })
}
