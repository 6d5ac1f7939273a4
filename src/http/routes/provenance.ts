import { ValidationError } from '../../errors/service-error.ts'
import { readHistory, readProvenance } from '../../sheet/cells/read-provenance.ts'
import { wholeNumber } from '../../wire/schema/page-parameters.ts'
import { ProvenanceAnswer, ProvenanceQuery } from '../../wire/records/provenance.ts'
import { jsonInTurns } from '../../sheet/json-body.ts'
import { sendJson } from '../response/json-response.ts'
import type { Operation } from '../openapi/operation.ts'
import { linkNextPage } from '../response/page-link.ts'
import type { Api, RouteContext } from './route-context.ts'

const GET: Operation = {
  id: 'getProvenance',
  tag: 'Provenance',
  summary: 'Get the provenance of a cell',
  description:
    'The latest entry, `null` if the cell has none yet, or with `history=true` all entries, oldest first, including those from before a deletion. The header `Link` has the next page of a long history.',
  errors: [404],
  answers: { 200: { headers: ['Link'], content: { 'application/json': ProvenanceAnswer } } },
}

/** `GET /api/provenance` (D35). Entries are in wire form from the log on. */
export function provenanceRoutes(app: Api, { sheet, read }: RouteContext): void {
  app.get(
    '/api/provenance',
    { ...read, schema: { querystring: ProvenanceQuery }, config: { operation: GET } },
    async (request, reply) => {
      const { record_id: recordId, field, history, limit, cursor } = request.query
      if (history !== 'true') {
        if (limit !== undefined || cursor !== undefined)
          throw new ValidationError(
            'limit and cursor require history=true; without it there is one entry',
            'conflicting_parameters',
          )
        // As text: the response may be `null`, which Fastify would take for an empty body.
        return sendJson(reply, await jsonInTurns(await readProvenance(sheet, { recordId, field })))
      }
      const page = { limit: wholeNumber(limit), cursor: cursor ?? null }
      const { entries, nextCursor } = await readHistory(sheet, { recordId, field, ...page })
      linkNextPage(reply, { path: '/api/provenance', query: request.query, nextCursor, isOnlyPlace: true })
      return sendJson(reply, await jsonInTurns(entries))
    },
  )
}
