import { deleteRecords } from '../../sheet/delete-records.ts'
import { getRecord, getRecordAsOf } from '../../sheet/get-record.ts'
import { listRecords, type RecordList } from '../../sheet/list-records.ts'
import { upsertRecords } from '../../sheet/upsert-records.ts'
import { commaList } from '../../wire/comma-list.ts'
import { NoQuery } from '../../wire/contract.ts'
import { wholeNumber } from '../../wire/page-parameters.ts'
import {
  DeleteRecordsAnswer,
  DeleteRecordsQuery,
  GetRecordQuery,
  ListRecordsQuery,
  recordListParts,
  UpsertRecordsAnswer,
} from '../../wire/records.ts'
import { acceptRawBodies } from '../body-parser.ts'
import { readIfMatch, tagVersion } from '../entity-tag.ts'
import { sendJson } from '../json-reply.ts'
import type { Api, RouteContext } from '../route-context.ts'
import { whileConnected } from '../while-connected.ts'

/** `/api/records` and `/api/records/{id}` (D10 to D16). Records are sent as the store made them. */
export function recordsRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  acceptRawBodies(app)

  app.get(
    '/api/records/:id',
    { ...read, schema: { querystring: GetRecordQuery } },
    async (request, reply) => {
      const { id } = request.params as { id: string }
      const { as_of: asOf } = request.query
      const fields = commaList(request.query.fields)
      if (asOf !== undefined) return sendJson(reply, await getRecordAsOf(sheet, id, { fields, asOf }))
      const { json, version } = await getRecord(sheet, id, fields)
      tagVersion(reply, version)
      return sendJson(reply, json)
    },
  )

  app.get('/api/records', { ...read, schema: { querystring: ListRecordsQuery } }, async (request, reply) => {
    const { fields, limit, cursor, filter, as_of: asOf, sort, position } = request.query
    const query = {
      fields: commaList(fields),
      limit: wholeNumber(limit),
      cursor: cursor ?? null,
      filter: filter ?? null,
      asOf: asOf ?? null,
      sort: commaList(sort),
      position: wholeNumber(position),
    }
    // Only a search can be stopped; a plain page is there before anybody can hang up.
    const isSearch = filter !== undefined || sort !== undefined
    const list = (signal?: AbortSignal): Promise<RecordList> => listRecords(sheet, query, signal)
    return sendJson(reply, recordListBytes(await (isSearch ? whileConnected(request, list) : list())))
  })

  const upsertSchema = { querystring: NoQuery, response: { 200: UpsertRecordsAnswer } }
  app.post('/api/records', { ...write, schema: upsertSchema }, async (request, reply) => {
    // Bytes, not yet JSON: they are parsed where writing happens, so that a large body holds up nobody else.
    const body = request.body instanceof Uint8Array ? request.body : {}
    const { inserted, updated, total, version } = await upsertRecords(sheet, body, {
      ifMatch: readIfMatch(request),
      actor: actors.besideBody(request),
    })
    if (version !== null) tagVersion(reply, version)
    return { inserted, updated, total }
  })

  const deleteSchema = { querystring: DeleteRecordsQuery, response: { 200: DeleteRecordsAnswer } }
  app.delete('/api/records', { ...write, schema: deleteSchema }, (request) =>
    deleteRecords(sheet, {
      ids: commaList(request.query.ids) ?? [],
      actor: actors.ofHeader(request),
      ifMatch: readIfMatch(request),
    }),
  )
}

/** A page in its envelope, without a look inside. */
function recordListBytes(page: RecordList): Buffer {
  const [before, after] = recordListParts(page)
  return Buffer.concat([Buffer.from(before), page.records, Buffer.from(after)])
}
