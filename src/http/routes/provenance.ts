import { readProvenance } from '../../sheet/read-provenance.ts'
import { ProvenanceAnswer, ProvenanceQuery } from '../../wire/provenance.ts'
import { sendJson } from '../json-reply.ts'
import type { Operation } from '../operation.ts'
import type { Api, RouteContext } from '../route-context.ts'

const GET: Operation = {
  id: 'getProvenance',
  tag: 'Provenance',
  summary: 'Get where the value of a cell came from',
  description:
    'The latest entry, `null` when nothing is known of the cell yet, or with `history=true` all entries, oldest first, those from before a deletion included.',
  errors: [404],
  answers: { 200: { content: { 'application/json': ProvenanceAnswer } } },
}

/** `GET /api/provenance` (D35). Entries are in wire form from the log on. */
export function provenanceRoutes(app: Api, { sheet, read }: RouteContext): void {
  app.get(
    '/api/provenance',
    { ...read, schema: { querystring: ProvenanceQuery }, config: { operation: GET } },
    async (request, reply) => {
      const { record_id: recordId, field, history } = request.query
      const provenance = await readProvenance(sheet, { recordId, field, history: history === 'true' })
      // As text: the answer may be `null`, which Fastify would take for an empty body.
      return sendJson(reply, JSON.stringify(provenance))
    },
  )
}
