import { Type, type Static } from 'typebox'
import type { DeletedList } from '../../sheet/queries/list-deleted.ts'
import { closedObject } from '../schema/closed-object.ts'
import { cursorParameter, limitParameter } from '../schema/page-parameters.ts'

/** Query of `GET /api/deleted`. */
export const DeletedQuery = closedObject({
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(cursorParameter('A `next_cursor` of this list.')),
})

/** Response of `GET /api/deleted`. */
export const DeletedAnswer = Type.Object({
  records: Type.Array(
    Type.Object({
      record_id: Type.String(),
      seq: Type.Integer({ description: 'The seq of the provenance entry that is its deletion.' }),
      at: Type.String(),
      actor: Type.String(),
      exists: Type.Boolean({
        description: 'Whether a record has its id again, so that it cannot be restored.',
      }),
      values: Type.Record(Type.String(), Type.Unknown(), {
        description: 'The values that it had; fields without a value are absent.',
      }),
    }),
  ),
  next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' }),
})
export type DeletedAnswer = Static<typeof DeletedAnswer>

/** Converts a page of deleted records to the wire format. */
export function toDeletedAnswer({ records, nextCursor }: DeletedList): DeletedAnswer {
  return {
    records: records.map(({ recordId, seq, at, actor, exists, values }) => ({
      record_id: recordId,
      seq,
      at,
      actor,
      exists,
      values,
    })),
    next_cursor: nextCursor,
  }
}
