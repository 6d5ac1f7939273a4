import { eraseValues } from '../../../sheet/writes/erase-values.ts'
import { EraseAnswer, EraseBody, EraseQuery, toEraseAnswer } from '../../../wire/records/erasure.ts'
import type { Operation } from '../../openapi/operation.ts'
import type { Api, RouteContext } from '../route-context.ts'

const ERASE: Operation = {
  id: 'eraseValues',
  tag: 'Provenance',
  summary: 'Erase values of records for good',
  description:
    'Erases present and earlier values, from the log too, with what was kept of the calls; of all records or none. It cannot be undone. Lines of the log keep the hash that they were written with, so that checkpoints still hold. Without `fields` all values are erased, and the records are deleted. With `dry_run=true` nothing is erased.',
  errors: [404, 409],
}

/** `POST /api/erase`: erases values of records. */
export function eraseRoutes(app: Api, { sheet, actors, write }: RouteContext): void {
  const schema = { querystring: EraseQuery, body: EraseBody, response: { 200: EraseAnswer } }
  app.post('/api/erase', { ...write, schema, config: { operation: ERASE } }, async (request) => {
    const { ids, fields = null, actor } = request.body
    const erasure = await eraseValues(sheet, {
      recordIds: ids,
      fields,
      actor: actors.ofBody(request, actor),
      dryRun: request.query.dry_run === 'true',
    })
    return toEraseAnswer(erasure)
  })
}
