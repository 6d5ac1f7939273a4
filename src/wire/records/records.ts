import { Type, type Static } from 'typebox'
import type { CamelKeys } from '../schema/camel-keys.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { filterParameter, whereParameter } from '../schema/conditions.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { Timestamp } from '../schema/names.ts'
import {
  cursorParameter,
  fieldsParameter,
  idsParameter,
  limitParameter,
  positionParameter,
  sortParameter,
} from '../schema/page-parameters.ts'

/** A record as answers show it: `id` and the fields of the contract, or just the requested ones (D12). */
export const RecordAnswer = Type.Record(Type.String(), Type.Unknown())
export type RecordAnswer = Static<typeof RecordAnswer>

const fieldList = fieldsParameter('Comma-separated field names; every field when absent.')

const asOf = Type.String({
  description: 'A `seq`, or a time in ISO 8601 with offset: the answer is as the sheet was then.',
  ...inDocument({
    type: undefined,
    anyOf: [Type.Integer({ minimum: 0 }), Timestamp],
  }),
})

/** Path of `GET /api/records/{id}`. */
export const RecordParams = Type.Object({
  id: Type.String({
    description: 'The record’s id, percent-encoded.',
    ...inDocument({ minLength: 1, exampleOf: 'recordId' }),
  }),
})

/** Query of `GET /api/records/{id}`. */
export const GetRecordQuery = closedObject({ fields: Type.Optional(fieldList), as_of: Type.Optional(asOf) })

/** Query of `GET /api/records`. */
export const ListRecordsQuery = closedObject({
  fields: Type.Optional(fieldList),
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(
    cursorParameter('A `next_cursor` of this service, for the same `filter`, `where`, `sort` or `as_of`.'),
  ),
  filter: Type.Optional(filterParameter),
  where: Type.Optional(whereParameter),
  as_of: Type.Optional(asOf),
  sort: Type.Optional(sortParameter),
  position: Type.Optional(positionParameter),
})

/** Query of `GET /api/position`. */
export const PositionQuery = closedObject({
  record_id: Type.String({ description: 'The record’s id.', ...inDocument({ exampleOf: 'recordId' }) }),
  filter: Type.Optional(filterParameter),
  where: Type.Optional(whereParameter),
  sort: Type.Optional(sortParameter),
})

/** Answer of `GET /api/position`. */
export const PositionAnswer = Type.Object({
  position: Type.Union([Type.Integer(), Type.Null()], {
    description: 'How many records of the list come before it; null when it is not in the list.',
  }),
})
export type PositionAnswer = Static<typeof PositionAnswer>

/** Answer of `GET /api/records` (specification, "Record list envelope"). */
export const RecordListAnswer = Type.Object({
  records: Type.Array(RecordAnswer),
  format: Type.Literal('json'),
  limit: Type.Integer({ description: 'The limit applied.' }),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Null exactly when nothing follows.',
  }),
})
export type RecordListAnswer = Static<typeof RecordListAnswer>

/** The text before and after the array of records in a {@link RecordListAnswer}, which is JSON already. */
export function recordListParts({
  limit,
  nextCursor,
}: CamelKeys<Pick<RecordListAnswer, 'limit' | 'next_cursor'>>): readonly [before: string, after: string] {
  const cursor = nextCursor === null ? 'null' : JSON.stringify(nextCursor)
  return ['{"records":', `,"format":"json","limit":${limit},"next_cursor":${cursor}}`]
}

/** A record as a write has it: `id` and the fields that it is about (D13). */
export const RecordInput = Type.Record(Type.String(), Type.Unknown())

/** Body of `POST /api/records`. The service reads it where it writes, not in the HTTP layer. */
export const UpsertRecordsBody = closedObject({
  records: Type.Array(RecordInput, inDocument({ exampleOf: 'records' })),
  actor: Type.Optional(actorMember('Who writes; the server default when absent.')),
})
export type UpsertRecordsBody = Static<typeof UpsertRecordsBody>

/** Answer of `POST /api/records`. */
export const UpsertRecordsAnswer = Type.Object({
  inserted: Type.Integer(),
  updated: Type.Integer({ description: 'Records that existed before, changed or not.' }),
  total: Type.Integer({ description: 'Records in the sheet after the write.' }),
})
export type UpsertRecordsAnswer = Static<typeof UpsertRecordsAnswer>

/** Query of `DELETE /api/records`. */
export const DeleteRecordsQuery = closedObject({
  ids: idsParameter('Comma-separated record ids; at least one.'),
})

/** Answer of `DELETE /api/records`. */
export const DeleteRecordsAnswer = Type.Object({
  deleted: Type.Integer({ description: 'Of the ids, those that existed.' }),
  remaining: Type.Integer({ description: 'Records in the sheet after the write.' }),
})
export type DeleteRecordsAnswer = Static<typeof DeleteRecordsAnswer>
