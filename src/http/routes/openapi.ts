import { Type } from 'typebox'
import { NoQuery } from '../../wire/definition/contract.ts'
import { sendJson } from '../response/json-response.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const GET: Operation = {
  id: 'getOpenApi',
  tag: 'Service',
  summary: 'Get this document',
  description:
    'The OpenAPI document of the service. It has the fields of the sheet, and changes with the contract.',
  answers: { 200: { content: { 'application/json': Type.Record(Type.String(), Type.Unknown()) } } },
}

/** `GET /openapi.json`. */
export function openApiRoutes(app: Api, { openApi, read }: RouteContext): void {
  app.get(
    '/openapi.json',
    { ...read, schema: { querystring: NoQuery }, config: { operation: GET } },
    async (_request, reply) => sendJson(reply, (await openApi()).bytes),
  )
}
