import { Type, type Static } from 'typebox'
import type { ErasureReport, MAX_ERASED } from '../../sheet/writes/erase-values.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { FieldName } from '../schema/names.ts'
import { flagParameter } from '../schema/page-parameters.ts'
import { inDocument } from '../schema/openapi-keywords.ts'

/** The most records of which a request erases values: that of `erase-values.ts`. */
const MOST: typeof MAX_ERASED = 1000

/** Query of `POST /api/erase`. */
export const EraseQuery = closedObject({
  dry_run: Type.Optional(flagParameter('With `true`, nothing is erased: the response says what would be.')),
})

/** Body of `POST /api/erase`. */
export const EraseBody = closedObject({
  ids: Type.Array(
    Type.String({ minLength: 1, title: 'a record id', ...inDocument({ exampleOf: 'recordId' }) }),
    {
      minItems: 1,
      maxItems: MOST,
      title: 'a list of record ids',
      description: 'The records; they may be deleted already.',
    },
  ),
  fields: Type.Optional(
    Type.Array(
      Type.String({
        minLength: 1,
        title: 'a field name',
        ...inDocument({ allOf: [FieldName], minLength: undefined, exampleOf: 'field' }),
      }),
      {
        minItems: 1,
        title: 'a list of field names',
        description: 'The fields whose values are erased; all when absent, and the records are deleted.',
      },
    ),
  ),
  actor: Type.Optional(actorMember('The actor who erases; the server default when absent.')),
})

/** Response of `POST /api/erase`. */
export const EraseAnswer = Type.Object({
  erased: Type.Array(
    Type.Object({
      record_id: Type.String(),
      seq: Type.Integer({ description: 'The `seq` of the provenance entry of the erasure.' }),
    }),
    { description: 'The records that had anything to erase.' },
  ),
  lines: Type.Integer({ description: 'The lines of the log from which values were erased.' }),
  compacted: Type.Boolean({
    description:
      'Whether the store was written anew without the values, false for a dry run; where that was not possible, as on a full disk, the same request does it later.',
  }),
  dependent_fields: Type.Array(Type.String(), {
    description: 'Fields that are computed from the erased ones, and whose values stay.',
  }),
})
export type EraseAnswer = Static<typeof EraseAnswer>

/** Converts the report of an erasure to the wire format. */
export function toEraseAnswer({ entries, lines, isCompacted, dependentFields }: ErasureReport): EraseAnswer {
  return {
    erased: entries.map(({ recordId, seq }) => ({ record_id: recordId, seq })),
    lines,
    compacted: isCompacted,
    dependent_fields: [...dependentFields],
  }
}
