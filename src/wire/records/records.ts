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
  flagParameter,
  idsParameter,
  limitParameter,
  positionParameter,
  sortParameter,
} from '../schema/page-parameters.ts'

/** A record in a response: `id` and the fields of the contract, or only the requested fields (D12). */
export const RecordAnswer = Type.Record(Type.String(), Type.Unknown())
export type RecordAnswer = Static<typeof RecordAnswer>

const fieldList = fieldsParameter('Comma-separated field names; every field when absent.')

/** The parameter that reads an earlier state. */
export const asOfParameter = Type.String({
  description:
    'A `seq`, or a time in ISO 8601 with offset: returns the sheet as it was then, also values that the contract does not allow now; null is in place of erased ones.',
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
export const GetRecordQuery = closedObject({
  fields: Type.Optional(fieldList),
  as_of: Type.Optional(asOfParameter),
})

/** Query of `GET /api/records`. */
export const ListRecordsQuery = closedObject({
  fields: Type.Optional(fieldList),
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(
    cursorParameter('A `next_cursor` of a request with the same `filter`, `where`, `sort` and `as_of`.'),
  ),
  filter: Type.Optional(filterParameter),
  where: Type.Optional(whereParameter),
  as_of: Type.Optional(asOfParameter),
  sort: Type.Optional(sortParameter),
  position: Type.Optional(positionParameter),
  changed: Type.Optional(
    flagParameter(
      'With `as_of`, `true` adds `changed`: the fields of each record that have another value now.',
    ),
  ),
})

/** Query of `GET /api/position`. */
export const PositionQuery = closedObject({
  record_id: Type.String({ description: 'The record’s id.', ...inDocument({ exampleOf: 'recordId' }) }),
  filter: Type.Optional(filterParameter),
  where: Type.Optional(whereParameter),
  sort: Type.Optional(sortParameter),
  as_of: Type.Optional(asOfParameter),
  among: Type.Optional({
    ...whereParameter,
    description: 'A condition as in `where`: counts only the records before it that meet this one as well.',
  }),
})

/** Response of `GET /api/position`. */
export const PositionAnswer = Type.Object({
  position: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The number of records before it in the list; null when it is not in the list.',
  }),
})
export type PositionAnswer = Static<typeof PositionAnswer>

/** Response of `GET /api/records` (`docs/reference/http.md`). */
export const RecordListAnswer = Type.Object({
  records: Type.Array(RecordAnswer),
  format: Type.Literal('json'),
  limit: Type.Integer({ description: 'The limit that was applied.' }),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Null on the last page.',
  }),
  changed: Type.Optional(
    Type.Array(Type.Union([Type.Array(Type.String()), Type.Null()]), {
      description:
        'With `changed=true`, for each record the fields that have another value now; null for a record that was deleted since.',
    }),
  ),
  total: Type.Optional(
    Type.Integer({
      description: 'With `as_of` and `where` or `sort`, the number of records of the list.',
    }),
  ),
})
export type RecordListAnswer = Static<typeof RecordListAnswer>

type PageMembers = CamelKeys<Pick<RecordListAnswer, 'limit' | 'next_cursor'>> & {
  readonly changed?: readonly (readonly string[] | null)[] | undefined
  readonly total?: number | undefined
}

/** The text before and after the array of records in a {@link RecordListAnswer}, whose records are JSON text. */
export function recordListParts({
  limit,
  nextCursor,
  changed,
  total,
}: PageMembers): readonly [before: string, after: string] {
  const cursor = nextCursor === null ? 'null' : JSON.stringify(nextCursor)
  const compared = changed === undefined ? '' : `,"changed":${JSON.stringify(changed)}`
  const counted = total === undefined ? '' : `,"total":${total}`
  return ['{"records":', `,"format":"json","limit":${limit},"next_cursor":${cursor}${compared}${counted}}`]
}

/** A record in a write: `id` and the fields to change (D13). */
export const RecordInput = Type.Record(Type.String(), Type.Unknown())

/** Body of `POST /api/records`. The store's writing thread parses it, not the HTTP layer. */
export const UpsertRecordsBody = closedObject({
  records: Type.Array(RecordInput, inDocument({ exampleOf: 'records' })),
  actor: Type.Optional(actorMember('The actor who writes; the server default when absent.')),
})
export type UpsertRecordsBody = Static<typeof UpsertRecordsBody>

/** Response of `POST /api/records`. */
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

/** Response of `DELETE /api/records`. */
export const DeleteRecordsAnswer = Type.Object({
  deleted: Type.Integer({ description: 'The number of these records that existed.' }),
  remaining: Type.Integer({ description: 'Records in the sheet after the write.' }),
})
export type DeleteRecordsAnswer = Static<typeof DeleteRecordsAnswer>
