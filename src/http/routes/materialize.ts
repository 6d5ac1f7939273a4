import { materialize } from '../../sheet/materialize.ts'
import { NoQuery } from '../../wire/contract.ts'
import { MaterializeAnswer, MaterializeBody, toMaterializeAnswer } from '../../wire/materialize.ts'
import type { Api, RouteContext } from '../route-context.ts'

/** `POST /api/materialize`; the use case publishes the frames (specification, "Events"; D40). */
export function materializeRoutes(app: Api, { sheet, write }: RouteContext): void {
  const schema = { querystring: NoQuery, body: MaterializeBody, response: { 200: MaterializeAnswer } }
  app.post('/api/materialize', { ...write, schema }, async (request) => {
    const { targets, record_ids: recordIds, force, actor } = request.body
    const report = await materialize(sheet, {
      targets: targets ?? null,
      recordIds: recordIds ?? null,
      force: force ?? false,
      // An empty actor is absent (D36).
      actor: actor || null,
    })
    return toMaterializeAnswer(report)
  })
}
