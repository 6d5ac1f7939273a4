import { deleteView, listViews, saveView } from '../../../sheet/named/views.ts'
import { NoQuery } from '../../../wire/definition/contract.ts'
import {
  DeleteViewAnswer,
  toView,
  toViewAnswer,
  ViewAnswer,
  ViewBody,
  ViewListAnswer,
  ViewParams,
} from '../../../wire/records/views.ts'
import { acceptJsonBodies } from '../../middleware/body-parser.ts'
import type { Operation } from '../../openapi/operation.ts'
import type { Api, RouteContext } from '../route-context.ts'

const LIST: Operation = {
  id: 'listViews',
  tag: 'Sheet',
  summary: 'List the views',
  description: 'Views name fields as the contract does now; what names a removed field is left out.',
}
const CREATE: Operation = {
  id: 'createView',
  tag: 'Sheet',
  summary: 'Save a new view',
  errors: [409],
  answers: { 200: { headers: ['Location'] } },
}
const CHANGE: Operation = { id: 'changeView', tag: 'Sheet', summary: 'Replace a view', errors: [404, 409] }
const DELETE: Operation = {
  id: 'deleteView',
  tag: 'Sheet',
  summary: 'Delete a view',
  errors: [404],
  headers: ['X-Svc-Actor'],
}

/** `/api/views`: the named views of the records. */
export function viewsRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  const listSchema = { querystring: NoQuery, response: { 200: ViewListAnswer } }
  app.get('/api/views', { ...read, schema: listSchema, config: { operation: LIST } }, async () => ({
    views: (await listViews(sheet)).map(toViewAnswer),
  }))

  acceptJsonBodies(app)
  const createSchema = { querystring: NoQuery, body: ViewBody, response: { 200: ViewAnswer } }
  app.post(
    '/api/views',
    { ...write, schema: createSchema, config: { operation: CREATE } },
    async (request, reply) => {
      const actor = actors.ofBody(request, request.body.actor)
      const view = await saveView(sheet, { id: null, ...toView(request.body), actor })
      reply.header('location', `/api/views/${view.id}`)
      return toViewAnswer(view)
    },
  )

  const changeSchema = { ...createSchema, params: ViewParams }
  app.put(
    '/api/views/:id',
    { ...write, schema: changeSchema, config: { operation: CHANGE } },
    async (request) => {
      const actor = actors.ofBody(request, request.body.actor)
      return toViewAnswer(await saveView(sheet, { id: request.params.id, ...toView(request.body), actor }))
    },
  )

  const deleteSchema = { querystring: NoQuery, params: ViewParams, response: { 200: DeleteViewAnswer } }
  app.delete(
    '/api/views/:id',
    { ...write, schema: deleteSchema, config: { operation: DELETE } },
    async (request) => {
      await deleteView(sheet, request.params.id, actors.ofHeader(request))
      return { deleted: request.params.id }
    },
  )
}
