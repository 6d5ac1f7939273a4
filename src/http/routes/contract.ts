import { readContract } from '../../sheet/read-contract.ts'
import { ContractAnswer, NoQuery } from '../../wire/contract.ts'
import type { Api, RouteContext } from '../route-context.ts'

/** `GET /api/contract` (D8). */
export function contractRoutes(app: Api, { sheet, read }: RouteContext): void {
  const schema = { querystring: NoQuery, response: { 200: ContractAnswer } }
  app.get('/api/contract', { ...read, schema }, () => readContract(sheet))
}
