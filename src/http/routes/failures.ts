import { groupFailures } from '../../sheet/cells/group-failures.ts'
import { FailuresAnswer, FailuresQuery } from '../../wire/runs/failures.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'
import type { Operation } from '../openapi/operation.ts'
import { sendJson } from '../response/json-response.ts'
import type { Api, RouteContext } from './route-context.ts'

const GROUP: Operation = {
  id: 'groupFailures',
  tag: 'Cells',
  summary: 'Group failed cells by the reason of their failure',
  description: 'The cells that are failed now, of the records that match, or those that failed in a run.',
  errors: [404],
  answers: { 200: { content: { 'application/json': FailuresAnswer } } },
}

/** `GET /api/failures`. */
export function failuresRoutes(app: Api, { sheet, read }: RouteContext): void {
  app.get(
    '/api/failures',
    { ...read, schema: { querystring: FailuresQuery }, config: { operation: GROUP } },
    async (request, reply) => {
      const { filter = null, where = null, run = null } = request.query
      return sendJson(
        reply,
        await whileConnected(request, (signal) => groupFailures(sheet, { filter, where, run }, signal)),
      )
    },
  )
}
