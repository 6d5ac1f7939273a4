import { ValidationError } from '../../../errors/service-error.ts'
import { readHistory, readProvenance } from '../../../sheet/cells/read-provenance.ts'
import { readMoment } from '../../../sheet/queries/read-moment.ts'
import { MomentAnswer, MomentQuery } from '../../../wire/records/moment.ts'
import { wholeNumber } from '../../../wire/schema/page-parameters.ts'
import { ProvenanceAnswer, ProvenanceQuery } from '../../../wire/records/provenance.ts'
import { jsonInTurns } from '../../../sheet/json-body.ts'
import { sendJson } from '../../response/json-response.ts'
import type { Operation } from '../../openapi/operation.ts'
import { linkNextPage } from '../../response/page-link.ts'
import type { Api, RouteContext } from '../route-context.ts'

const GET: Operation = {
  id: 'getProvenance',
  tag: 'Provenance',
  summary: 'Get the provenance of a cell or a record',
  description:
    'The latest entry of a cell, `null` if it has none yet, or with `history=true` all entries of a cell, or without `field` of a record, oldest first, including those from before a deletion. The header `Link` has the next page of a long history.',
  errors: [404],
  answers: { 200: { headers: ['Link'], content: { 'application/json': ProvenanceAnswer } } },
}

const HISTORY: Operation = {
  id: 'getHistory',
  tag: 'Provenance',
  summary: 'Get an earlier state of the sheet',
  description:
    'Which state `as_of` means, when and by whom it was reached, how many records it has, and the range of states that are known.',
}

/** `GET /api/provenance` (D35), whose entries are in wire form from the log on, and `GET /api/history`. */
export function provenanceRoutes(app: Api, { sheet, read }: RouteContext): void {
  app.get(
    '/api/provenance',
    { ...read, schema: { querystring: ProvenanceQuery }, config: { operation: GET } },
    async (request, reply) => {
      const { record_id: recordId, field = null, history, limit, cursor, as_of: asOf = null } = request.query
      if (history !== 'true') {
        if (limit !== undefined || cursor !== undefined)
          throw new ValidationError(
            'limit and cursor require history=true; without it there is one entry',
            'conflicting_parameters',
          )
        if (field === null)
          throw new ValidationError(
            'query parameter "field" is required; only with history=true may it be absent, for the entries of all fields',
            'invalid_request',
          )
        // As text: the response may be `null`, which Fastify would take for an empty body.
        return sendJson(reply, await jsonInTurns(await readProvenance(sheet, { recordId, field, asOf })))
      }
      const page = { limit: wholeNumber(limit), cursor: cursor ?? null }
      const { entries, nextCursor } = await readHistory(sheet, { recordId, field, asOf, ...page })
      linkNextPage(reply, { path: '/api/provenance', query: request.query, nextCursor, isOnlyPlace: true })
      return sendJson(reply, await jsonInTurns(entries))
    },
  )

  const historySchema = { querystring: MomentQuery, response: { 200: MomentAnswer } }
  app.get(
    '/api/history',
    { ...read, schema: historySchema, config: { operation: HISTORY } },
    async ({ query }) => {
      const { firstAt, lastAt, ...moment } = await readMoment(sheet, query.as_of ?? null)
      return { ...moment, first_at: firstAt, last_at: lastAt }
    },
  )
}
