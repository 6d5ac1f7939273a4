import { readPermissions } from '../../sheet/schema/read-permissions.ts'
import { PermissionsAnswer, PermissionsQuery } from '../../wire/records/permissions.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const GET: Operation = {
  id: 'getPermissions',
  tag: 'Sheet',
  summary: 'Get the permissions of an actor',
  description: 'The fields that the actor may write, and whether it may delete records.',
}

/** `GET /api/permissions`: the permissions of an actor (D7). */
export function permissionsRoutes(app: Api, { sheet, read, actors }: RouteContext): void {
  const schema = { querystring: PermissionsQuery, response: { 200: PermissionsAnswer } }
  app.get('/api/permissions', { ...read, schema, config: { operation: GET } }, async (request) => {
    const { write, ...rest } = await readPermissions(sheet, actors.ofBody(request, request.query.actor))
    return {
      ...rest,
      write: [...write],
      ...(actors.areFixed && { fixed: true as const }),
      ...(sheet.hasFixedDefinition && { read_only_definition: true as const }),
    }
  })
}
