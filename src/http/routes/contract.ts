import { readContract } from '../../sheet/schema/read-contract.ts'
import { ContractAnswer, NoQuery } from '../../wire/definition/contract.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const GET: Operation = {
  id: 'getContract',
  tag: 'Sheet',
  summary: 'Get the contract',
  description:
    'The validated document (Open Data Contract Standard) with defaults filled in, and `derived` on each property that a derivation computes.',
}

/** `GET /api/contract` (D8). */
export function contractRoutes(app: Api, { sheet, read }: RouteContext): void {
  const schema = { querystring: NoQuery, response: { 200: ContractAnswer } }
  app.get('/api/contract', { ...read, schema, config: { operation: GET } }, () => readContract(sheet))
}
