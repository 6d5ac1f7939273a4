import { explainCell } from '../../sheet/cells/explain-cell.ts'
import { readCellStates, readProposedCells } from '../../sheet/cells/read-cell-states.ts'
import { readWriters } from '../../sheet/cells/read-writers.ts'
import { readStatus } from '../../sheet/cells/read-status.ts'
import { groupFailures } from '../../sheet/runs/group-failures.ts'
import { commaList } from '../../wire/schema/comma-list.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import {
  CellExplanationAnswer,
  CellParams,
  CellStatesAnswer,
  CellStatesQuery,
  StatusAnswer,
  StatusQuery,
  toCellExplanationAnswer,
  toStatusAnswer,
} from '../../wire/runs/status.ts'
import {
  ProposedCellsAnswer,
  ProposedCellsQuery,
  toProposedCellsAnswer,
} from '../../wire/records/proposals.ts'
import { CellWritersAnswer, CellWritersQuery, toCellWritersAnswer } from '../../wire/records/reviews.ts'
import { FailuresAnswer, FailuresQuery } from '../../wire/runs/failures.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'
import { sendJson } from '../response/json-response.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

/** A warning for the operator, as a header: the body has a member for each derived field and none for this (D32). */
const WARNING_HEADER = 'X-Svc-Warning'

const STATUS: Operation = {
  id: 'getStatus',
  tag: 'Cells',
  summary: 'Count the states of derived fields',
  description:
    'By target field: how many cells are fresh, stale, missing, failed and overridden, and how many are blocked.',
}
const STATES: Operation = {
  id: 'getCellStates',
  tag: 'Cells',
  summary: 'Get the states of the derived cells of some records',
  description: 'Records that do not exist are left out.',
}
const PROPOSED: Operation = {
  id: 'getProposedCells',
  tag: 'Cells',
  summary: 'Get the cells of some records for which proposals wait',
  description: 'The cells of the newest proposal come first.',
}
const WRITERS: Operation = {
  id: 'getCellWriters',
  tag: 'Cells',
  summary: 'Get the writers of the present values of some records',
  description:
    'Values of `records.jsonl` have none, and values of earlier versions have one once they are written again.',
}
const EXPLAIN: Operation = {
  id: 'explainCell',
  tag: 'Cells',
  summary: 'Explain why a cell is stale, missing, failed or blocked',
  errors: [404],
}

const FAILURES: Operation = {
  id: 'groupFailures',
  tag: 'Cells',
  summary: 'Group failed cells by the reason of their failure',
  description: 'The cells that are failed now, of the records that match, or those that failed in a run.',
  errors: [404],
  answers: { 200: { content: { 'application/json': FailuresAnswer } } },
}

/** `GET /api/status` (D32), of whole fields or of one cell, `GET /api/cells`, of the cells of some records, with the paths below it, and `GET /api/failures`. */
export function statusRoutes(app: Api, { sheet, read }: RouteContext): void {
  const schema = { querystring: StatusQuery, response: { 200: StatusAnswer } }
  app.get('/api/status', { ...read, schema, config: { operation: STATUS } }, async (request, reply) => {
    const status = await readStatus(sheet, commaList(request.query.targets))
    const warnings = sheet.warnings()
    if (warnings.length > 0) void reply.header(WARNING_HEADER, warnings.join('; '))
    return toStatusAnswer(status)
  })

  const statesSchema = { querystring: CellStatesQuery, response: { 200: CellStatesAnswer } }
  app.get(
    '/api/cells',
    { ...read, schema: statesSchema, config: { operation: STATES } },
    async ({ query }) => {
      const states = await readCellStates(sheet, {
        ids: commaList(query.ids) ?? [],
        targets: commaList(query.targets),
      })
      return Object.fromEntries(states)
    },
  )

  const proposedSchema = { querystring: ProposedCellsQuery, response: { 200: ProposedCellsAnswer } }
  app.get(
    '/api/cells/proposed',
    { ...read, schema: proposedSchema, config: { operation: PROPOSED } },
    async ({ query }) => toProposedCellsAnswer(await readProposedCells(sheet, commaList(query.ids) ?? [])),
  )

  const writersSchema = { querystring: CellWritersQuery, response: { 200: CellWritersAnswer } }
  app.get(
    '/api/cells/writers',
    { ...read, schema: writersSchema, config: { operation: WRITERS } },
    async ({ query }) => {
      const [actors, runs] = [commaList(query.by), commaList(query.by_run)]
      const by = actors === null && runs === null ? null : { actors: actors ?? [], runs: runs ?? [] }
      return toCellWritersAnswer(await readWriters(sheet, { ids: commaList(query.ids) ?? [], by }))
    },
  )

  app.get(
    '/api/failures',
    { ...read, schema: { querystring: FailuresQuery }, config: { operation: FAILURES } },
    async (request, reply) => {
      const { filter = null, where = null, run = null } = request.query
      return sendJson(
        reply,
        await whileConnected(request, (signal) => groupFailures(sheet, { filter, where, run }, signal)),
      )
    },
  )

  const cellSchema = { params: CellParams, querystring: NoQuery, response: { 200: CellExplanationAnswer } }
  app.get(
    '/api/status/:target/:record_id',
    { ...read, schema: cellSchema, config: { operation: EXPLAIN } },
    async ({ params }) => {
      const { target, record_id: recordId } = params
      return toCellExplanationAnswer(await explainCell(sheet, target, recordId))
    },
  )
}
