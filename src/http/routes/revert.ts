import { ValidationError } from '../../errors/service-error.ts'
import { revertCell, startRevert } from '../../sheet/revert.ts'
import { NoQuery } from '../../wire/contract.ts'
import { RevertAnswer, RevertBody, toRevertAnswer } from '../../wire/revert.ts'
import type { Operation } from '../operation.ts'
import type { Api, RouteContext } from '../route-context.ts'
import { runPath } from './runs.ts'

const REVERT: Operation = {
  id: 'revert',
  tag: 'Runs',
  summary: 'Put values back',
  description:
    'Undoes a run (`run_id`), or one provenance entry of a cell (`record_id`, `field`, `seq`). Only cells that still hold what is to be undone get their values back; the others are the conflicts.',
  errors: [404, 409],
  answers: { 200: { headers: ['Location'] } },
}

/** `POST /api/revert`, of a run or of one cell. */
export function revertRoutes(app: Api, { sheet, actors, write }: RouteContext): void {
  const schema = { querystring: NoQuery, body: RevertBody, response: { 200: RevertAnswer } }
  app.post('/api/revert', { ...write, schema, config: { operation: REVERT } }, async (request, reply) => {
    const { run_id: runId, record_id: recordId, field, seq } = request.body
    const actor = actors.ofBody(request, request.body.actor)
    const ofCell = [recordId, field, seq].filter((member) => member !== undefined).length
    if (runId !== undefined && ofCell === 0) {
      const run = await startRevert(sheet, { runId, actor })
      reply.header('location', runPath(run.id))
      return toRevertAnswer(await run.done)
    }
    if (runId !== undefined || recordId === undefined || field === undefined || seq === undefined) {
      throw new ValidationError(
        'the body must have either "run_id", to revert a run, or "record_id", "field" and "seq", to revert a cell',
      )
    }
    return toRevertAnswer(await revertCell(sheet, { recordId, field, seq, actor }))
  })
}
