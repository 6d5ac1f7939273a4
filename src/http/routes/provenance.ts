import { readProvenance } from '../../sheet/read-provenance.ts'
import { ProvenanceQuery } from '../../wire/provenance.ts'
import { sendJson } from '../json-reply.ts'
import type { Api, RouteContext } from '../route-context.ts'

/** `GET /api/provenance` (D35). Entries are in wire form from the log on. */
export function provenanceRoutes(app: Api, { sheet, read }: RouteContext): void {
  app.get(
    '/api/provenance',
    { ...read, schema: { querystring: ProvenanceQuery } },
    async (request, reply) => {
      const { record_id: recordId, field, history } = request.query
      const provenance = await readProvenance(sheet, { recordId, field, history: history === 'true' })
      // As text: the answer may be `null`, which Fastify would take for an empty body.
      return sendJson(reply, JSON.stringify(provenance))
    },
  )
}
