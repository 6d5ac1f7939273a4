import { jsonInTurns } from '../../sheet/json-body.ts'
import { listDeleted } from '../../sheet/queries/list-deleted.ts'
import { restoreRecords, type RestoreRecordsRequest } from '../../sheet/writes/restore-records.ts'
import {
  revertCell,
  startRevert,
  type RevertCellRequest,
  type RevertRunRequest,
} from '../../sheet/runs/revert.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import { DeletedAnswer, DeletedQuery, toDeletedAnswer } from '../../wire/records/deleted.ts'
import { RevertAnswer, RevertBody, toRevertAnswer } from '../../wire/runs/revert.ts'
import { wholeNumber } from '../../wire/schema/page-parameters.ts'
import { sendJson } from '../response/json-response.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'
import { runPath } from './runs.ts'

const REVERT: Operation = {
  id: 'revert',
  tag: 'Runs',
  summary: 'Revert a run, a cell or deletions',
  description:
    'Reverts a run (`run_id`), or one provenance entry of a cell (`record_id`, `field`, `seq`). Only cells that still have the value to revert get their earlier values; the others are the conflicts. Or restores deleted records: one by the entry of its deletion (`record_id`, `seq`), or several by their latest deletions (`record_ids`), all or none.',
  errors: [404, 409],
  answers: { 200: { headers: ['Location'] } },
}

const DELETED: Operation = {
  id: 'listDeletedRecords',
  tag: 'Records',
  summary: 'List the deleted records',
  description:
    'The last deleted first, without those that were restored; `POST /api/revert` with `record_ids` restores them.',
}

/** `GET /api/deleted`: the deleted records; `POST /api/revert`: reverts a run, a cell or deletions. */
export function revertRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  const deletedSchema = { querystring: DeletedQuery, response: { 200: DeletedAnswer } }
  app.get(
    '/api/deleted',
    { ...read, schema: deletedSchema, config: { operation: DELETED } },
    async ({ query }, reply) => {
      const page = { limit: wholeNumber(query.limit), cursor: query.cursor ?? null }
      return sendJson(reply, await jsonInTurns(toDeletedAnswer(await listDeleted(sheet, page))))
    },
  )

  const schema = { querystring: NoQuery, body: RevertBody, response: { 200: RevertAnswer } }
  app.post('/api/revert', { ...write, schema, config: { operation: REVERT } }, async (request, reply) => {
    const actor = actors.ofBody(request, request.body.actor)
    const revert = revertOf(request.body)
    if (!('runId' in revert)) {
      const report =
        'records' in revert
          ? await restoreRecords(sheet, { ...revert, actor })
          : await revertCell(sheet, { ...revert, actor })
      return toRevertAnswer(report)
    }
    const run = await startRevert(sheet, { ...revert, actor })
    reply.header('location', runPath(run.id))
    return toRevertAnswer(await run.done)
  })
}

type Revert =
  Pick<RevertRunRequest, 'runId'> | Pick<RestoreRecordsRequest, 'records'> | Omit<RevertCellRequest, 'actor'>

/** Returns the revert that a body requests. */
function revertOf(body: RevertBody): Revert {
  if ('run_id' in body) return { runId: body.run_id }
  if ('record_ids' in body) return { records: body.record_ids.map((id) => ({ recordId: id, seq: null })) }
  const { record_id: recordId, field, seq } = body
  return field === undefined ? { records: [{ recordId, seq }] } : { recordId, field, seq }
}
