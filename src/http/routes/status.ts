import { explainCell } from '../../sheet/explain-cell.ts'
import { readCellStates } from '../../sheet/read-cell-states.ts'
import { readStatus } from '../../sheet/read-status.ts'
import { commaList } from '../../wire/comma-list.ts'
import { NoQuery } from '../../wire/contract.ts'
import {
  CellExplanationAnswer,
  CellStatesAnswer,
  CellStatesQuery,
  StatusAnswer,
  StatusQuery,
  toCellExplanationAnswer,
  toStatusAnswer,
} from '../../wire/status.ts'
import type { Api, RouteContext } from '../route-context.ts'

interface CellParams {
  readonly target: string
  readonly record_id: string
}

/** `GET /api/status` (D32), of whole fields and of one cell, and `GET /api/cells`, of the cells of some records. */
export function statusRoutes(app: Api, { sheet, read }: RouteContext): void {
  const schema = { querystring: StatusQuery, response: { 200: StatusAnswer } }
  app.get('/api/status', { ...read, schema }, async (request) =>
    toStatusAnswer(await readStatus(sheet, commaList(request.query.targets))),
  )

  const statesSchema = { querystring: CellStatesQuery, response: { 200: CellStatesAnswer } }
  app.get('/api/cells', { ...read, schema: statesSchema }, async ({ query }) => {
    const states = await readCellStates(sheet, {
      ids: commaList(query.ids) ?? [],
      targets: commaList(query.targets),
    })
    return Object.fromEntries(states)
  })

  const cellSchema = { querystring: NoQuery, response: { 200: CellExplanationAnswer } }
  app.get('/api/status/:target/:record_id', { ...read, schema: cellSchema }, async ({ params }) => {
    const { target, record_id: recordId } = params as CellParams
    return toCellExplanationAnswer(await explainCell(sheet, target, recordId))
  })
}
