import { deleteRecords } from '../../sheet/writes/delete-records.ts'
import { getRecord, getRecordAsOf } from '../../sheet/queries/get-record.ts'
import { listRecords, type RecordList } from '../../sheet/queries/list-records.ts'
import { locateRecord } from '../../sheet/queries/locate-record.ts'
import { readStamp } from '../../sheet/queries/response-stamp.ts'
import { upsertRecords } from '../../sheet/writes/upsert-records.ts'
import { commaList } from '../../wire/schema/comma-list.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import { wholeNumber } from '../../wire/schema/page-parameters.ts'
import {
  DeleteRecordsAnswer,
  DeleteRecordsQuery,
  GetRecordQuery,
  ListRecordsQuery,
  PositionAnswer,
  PositionQuery,
  RecordAnswer,
  RecordListAnswer,
  recordListParts,
  RecordParams,
  UpsertRecordsAnswer,
  UpsertRecordsBody,
} from '../../wire/records/records.ts'
import { acceptRawBodies } from '../middleware/body-parser.ts'
import { contentTag, readIfAbsent, readIfMatch, TAGGED_UP_TO, tagVersion } from '../response/entity-tag.ts'
import { addVary } from '../response/finish-response.ts'
import { sendJson } from '../response/json-response.ts'
import { NDJSON_CONTENT_TYPE, toNdjson } from '../response/ndjson.ts'
import { prefers } from '../response/negotiate.ts'
import type { Operation } from '../openapi/operation.ts'
import { linkNextPage } from '../response/page-link.ts'
import type { Api, RouteContext } from './route-context.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'

const GET: Operation = {
  id: 'getRecord',
  tag: 'Records',
  summary: 'Get a record',
  description:
    'The `ETag` has the version of the record, for `If-Match` of a write; a response with `as_of` has no such tag.',
  errors: [404],
  answers: { 200: { content: { 'application/json': RecordAnswer } } },
}

const LIST: Operation = {
  id: 'listRecords',
  tag: 'Records',
  summary: 'List records',
  description:
    'A page of records, and the cursor of the next one. With `Accept: application/x-ndjson`, each line is a record, and only the header `Link` has the next page.',
  headers: ['Accept'],
  answers: {
    200: {
      headers: ['Link'],
      content: { 'application/json': RecordListAnswer, [NDJSON_CONTENT_TYPE]: RecordAnswer },
    },
  },
}

const LOCATE: Operation = {
  id: 'locateRecord',
  tag: 'Records',
  summary: 'Get the position of a record in a list',
  description: 'The `position` with which `GET /api/records` returns the page that begins with the record.',
}

const UPSERT: Operation = {
  id: 'upsertRecords',
  tag: 'Records',
  summary: 'Insert and update records',
  description:
    'All or none. An existing record is merged: absent fields keep their values, `null` clears one. With `If-Match`, exactly one record, which is written only if it still has that version. With `If-None-Match: *`, only new records.',
  errors: [412],
  headers: ['If-Match', 'If-None-Match'],
  body: UpsertRecordsBody,
  answers: { 200: { description: 'A response about exactly one record has its `ETag`.', headers: ['ETag'] } },
}

const DELETE: Operation = {
  id: 'deleteRecords',
  tag: 'Records',
  summary: 'Delete records',
  description: 'Ids that do not exist are no error, except with `If-Match`, which requires exactly one id.',
  errors: [412],
  headers: ['If-Match', 'X-Svc-Actor'],
}

/** Longest cursor that is part of a tag unhashed: quicker than its hash. */
const SHORT_CURSOR = 64

/** `/api/records` and `/api/records/{id}` (D10 to D16). Records are sent as the store serialized them. */
export function recordsRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  acceptRawBodies(app)

  app.get(
    '/api/records/:id',
    { ...read, schema: { params: RecordParams, querystring: GetRecordQuery }, config: { operation: GET } },
    async (request, reply) => {
      const { id } = request.params
      const { as_of: asOf } = request.query
      const fields = commaList(request.query.fields)
      if (asOf !== undefined) return sendJson(reply, await getRecordAsOf(sheet, id, { fields, asOf }))
      const { json, version, stamp } = await getRecord(sheet, id, fields)
      tagVersion(reply, version, stamp)
      return sendJson(reply, json)
    },
  )

  app.get(
    '/api/records',
    { ...read, schema: { querystring: ListRecordsQuery }, config: { operation: LIST } },
    async (request, reply) => {
      const { fields, limit, cursor, filter, where, as_of: asOf, sort, position, changed } = request.query
      const query = {
        fields: commaList(fields),
        limit: wholeNumber(limit),
        cursor: cursor ?? null,
        filter: filter ?? null,
        where: where ?? null,
        asOf: asOf ?? null,
        sort: commaList(sort),
        position: wholeNumber(position),
        changed: changed === 'true',
      }
      // Only a search can be aborted; a plain page is ready before a client can disconnect.
      const isSearch = filter !== undefined || where !== undefined || sort !== undefined
      const list = (signal?: AbortSignal): Promise<RecordList> => listRecords(sheet, query, signal)
      const page = await (isSearch ? whileConnected(request, list) : list())
      const { nextCursor } = page
      const asLines = prefers(request.raw.headers, NDJSON_CONTENT_TYPE)
      addVary(reply, 'Accept')
      linkNextPage(reply, { path: '/api/records', query: request.query, nextCursor, isOnlyPlace: asLines })
      if (asLines) return reply.header('content-type', NDJSON_CONTENT_TYPE).send(await toNdjson(page.records))
      if (page.records.length <= TAGGED_UP_TO) reply.header('etag', pageTag(page))
      return sendJson(reply, recordListBytes(page))
    },
  )

  const locateSchema = { querystring: PositionQuery, response: { 200: PositionAnswer } }
  app.get(
    '/api/position',
    { ...read, schema: locateSchema, config: { operation: LOCATE } },
    async (request) => {
      const {
        record_id: id,
        filter = null,
        where = null,
        sort,
        among = null,
        as_of: asOf = null,
      } = request.query
      const query = { id, filter, where, sort: commaList(sort), among, asOf }
      const position = await whileConnected(request, (signal) => locateRecord(sheet, query, signal))
      return { position }
    },
  )

  const upsertSchema = { querystring: NoQuery, response: { 200: UpsertRecordsAnswer } }
  app.post(
    '/api/records',
    { ...write, schema: upsertSchema, config: { operation: UPSERT } },
    async (request, reply) => {
      // Bytes, not yet JSON: the writing thread parses them, so that a large body delays no other request.
      const body = request.body instanceof Uint8Array ? request.body : {}
      const { inserted, updated, total, version } = await upsertRecords(sheet, body, {
        ifMatch: readIfMatch(request, await readStamp(sheet)),
        ifAbsent: readIfAbsent(request),
        actor: actors.besideBody(request),
      })
      const stamp = version === null ? null : await readStamp(sheet)
      if (version !== null && typeof stamp === 'string') tagVersion(reply, version, stamp)
      return { inserted, updated, total }
    },
  )

  const deleteSchema = { querystring: DeleteRecordsQuery, response: { 200: DeleteRecordsAnswer } }
  app.delete(
    '/api/records',
    { ...write, schema: deleteSchema, config: { operation: DELETE } },
    async (request) =>
      deleteRecords(sheet, {
        ids: commaList(request.query.ids) ?? [],
        actor: actors.ofHeader(request),
        ifMatch: readIfMatch(request, await readStamp(sheet)),
      }),
  )
}

/** Tags a page by the parts that can change while the request is the same. */
function pageTag({ records, nextCursor, changed }: RecordList): string {
  const compared = changed === undefined ? '' : `.${contentTag(JSON.stringify(changed))}`
  return `"${contentTag(records)}${compared}.${followingOf(nextCursor)}"`
}

/** Cursors of sorted lists contain values, and may be long. */
function followingOf(nextCursor: string | null): string {
  if (nextCursor === null) return 'end'
  return nextCursor.length <= SHORT_CURSOR ? nextCursor : contentTag(nextCursor)
}

/** Puts a page into its envelope without parsing it. */
function recordListBytes(page: RecordList): Buffer {
  const [before, after] = recordListParts(page)
  return Buffer.concat([Buffer.from(before), page.records, Buffer.from(after)])
}
