import { deleteChart, listCharts, saveChart } from '../../../sheet/named/charts.ts'
import { NoQuery } from '../../../wire/definition/contract.ts'
import {
  ChartAnswer,
  ChartBody,
  ChartListAnswer,
  ChartParams,
  DeleteChartAnswer,
  toChart,
  toChartAnswer,
} from '../../../wire/records/charts.ts'
import { acceptJsonBodies } from '../../middleware/body-parser.ts'
import type { Operation } from '../../openapi/operation.ts'
import type { Api, RouteContext } from '../route-context.ts'

const LIST: Operation = {
  id: 'listCharts',
  tag: 'Sheet',
  summary: 'List the charts',
  description: 'Charts name fields as the contract does now, and null in place of a removed field.',
}
const CREATE: Operation = {
  id: 'createChart',
  tag: 'Sheet',
  summary: 'Save a new chart',
  errors: [409],
  answers: { 200: { headers: ['Location'] } },
}
const CHANGE: Operation = { id: 'changeChart', tag: 'Sheet', summary: 'Replace a chart', errors: [404, 409] }
const DELETE: Operation = {
  id: 'deleteChart',
  tag: 'Sheet',
  summary: 'Delete a chart',
  errors: [404],
  headers: ['X-Svc-Actor'],
}

/** `/api/charts`: the charts that are kept under a name. */
export function chartsRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  const listSchema = { querystring: NoQuery, response: { 200: ChartListAnswer } }
  app.get('/api/charts', { ...read, schema: listSchema, config: { operation: LIST } }, async () => ({
    charts: (await listCharts(sheet)).map(toChartAnswer),
  }))

  acceptJsonBodies(app)
  const createSchema = { querystring: NoQuery, body: ChartBody, response: { 200: ChartAnswer } }
  app.post(
    '/api/charts',
    { ...write, schema: createSchema, config: { operation: CREATE } },
    async (request, reply) => {
      const actor = actors.ofBody(request, request.body.actor)
      const chart = await saveChart(sheet, { id: null, ...toChart(request.body), actor })
      reply.header('location', `/api/charts/${chart.id}`)
      return toChartAnswer(chart)
    },
  )

  const changeSchema = { ...createSchema, params: ChartParams }
  app.put(
    '/api/charts/:id',
    { ...write, schema: changeSchema, config: { operation: CHANGE } },
    async (request) => {
      const actor = actors.ofBody(request, request.body.actor)
      return toChartAnswer(await saveChart(sheet, { id: request.params.id, ...toChart(request.body), actor }))
    },
  )

  const deleteSchema = { querystring: NoQuery, params: ChartParams, response: { 200: DeleteChartAnswer } }
  app.delete(
    '/api/charts/:id',
    { ...write, schema: deleteSchema, config: { operation: DELETE } },
    async (request) => {
      await deleteChart(sheet, request.params.id, actors.ofHeader(request))
      return { deleted: request.params.id }
    },
  )
}
