import { explainCell } from '../../sheet/explain-cell.ts'
import { readStatus } from '../../sheet/read-status.ts'
import { commaList } from '../../wire/comma-list.ts'
import { NoQuery } from '../../wire/contract.ts'
import {
  CellExplanationAnswer,
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

/** `GET /api/status` (D32), of whole fields and of one cell. */
export function statusRoutes(app: Api, { sheet, read }: RouteContext): void {
  const schema = { querystring: StatusQuery, response: { 200: StatusAnswer } }
  app.get('/api/status', { ...read, schema }, async (request) =>
    toStatusAnswer(await readStatus(sheet, commaList(request.query.targets))),
  )

  const cellSchema = { querystring: NoQuery, response: { 200: CellExplanationAnswer } }
  app.get('/api/status/:target/:record_id', { ...read, schema: cellSchema }, async ({ params }) => {
    const { target, record_id: recordId } = params as CellParams
    return toCellExplanationAnswer(await explainCell(sheet, target, recordId))
  })
}
