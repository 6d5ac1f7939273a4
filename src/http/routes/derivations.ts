import { readDerivations } from '../../sheet/schema/read-derivations.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import { DerivationsAnswer, toDerivationsAnswer } from '../../wire/definition/derivations.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const LIST: Operation = {
  id: 'listDerivations',
  tag: 'Sheet',
  summary: 'List the derivation files',
  description: 'Each after those that it depends on, with its parsed contents.',
}

/** `GET /api/derivations`: the files with their parsed contents. */
export function derivationsRoutes(app: Api, { sheet, read }: RouteContext): void {
  const schema = { querystring: NoQuery, response: { 200: DerivationsAnswer } }
  app.get('/api/derivations', { ...read, schema, config: { operation: LIST } }, async () =>
    toDerivationsAnswer(await readDerivations(sheet)),
  )
}
