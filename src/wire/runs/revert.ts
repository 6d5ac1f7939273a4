import { Type, type Static } from 'typebox'
import type { MAX_RECORDS } from '../../sheet/writes/restore-records.ts'
import type { RevertReport } from '../../sheet/runs/revert.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { FieldName } from '../schema/names.ts'

/** The maximum number of records that one request restores: that of `restore-records.ts`. */
const MAX_RESTORED: typeof MAX_RECORDS = 10_000

const actor = Type.Optional(actorMember('The actor who reverts; the server default when absent.'))

/** Body of `POST /api/revert`: a run, a cell with the entry to undo, or deleted records. */
export const RevertBody = Type.Union(
  [
    closedObject({
      run_id: Type.String({ minLength: 1, title: 'a run id', description: 'The run to undo.' }),
      actor,
    }),
    closedObject({
      record_id: Type.String({
        minLength: 1,
        title: 'a record id',
        description: 'The record of the cell, or the deleted record.',
        ...inDocument({ exampleOf: 'recordId' }),
      }),
      field: Type.Optional(
        Type.String({
          minLength: 1,
          title: 'a field name',
          description: 'The field of the cell; absent to restore a deleted record.',
          ...inDocument({ allOf: [FieldName], minLength: undefined, exampleOf: 'field' }),
        }),
      ),
      seq: Type.Integer({
        minimum: 1,
        title: 'the seq of a provenance entry',
        description: 'The provenance entry to undo, or the entry of the deletion.',
      }),
      actor,
    }),
    closedObject({
      record_ids: Type.Array(Type.String(), {
        minItems: 1,
        maxItems: MAX_RESTORED,
        title: 'a list of record ids',
        description:
          'Deleted records to restore, each with its values before the latest deletion: all or none.',
        ...inDocument({ exampleOf: 'recordIds' }),
      }),
      actor,
    }),
  ],
  {
    title:
      'either "run_id", to revert a run, or "record_id", "field" and "seq", to revert a cell, ' +
      'or "record_id" and "seq", or "record_ids", to restore deleted records',
  },
)
export type RevertBody = Static<typeof RevertBody>

/** Response of `POST /api/revert`. */
export const RevertAnswer = Type.Object({
  reverted: Type.Integer({
    description:
      'Number of cells reverted, or of records restored; created records that were deleted count too.',
  }),
  conflicts: Type.Array(Type.Object({ record_id: Type.String(), field: Type.String() }), {
    description:
      'Cells that were not reverted because they have changed since; the field `id` stands for a record that was not deleted or restored.',
  }),
  run_id: Type.Union([Type.String(), Type.Null()], {
    description: 'The run of the revert; null for a single cell and for records.',
  }),
})
export type RevertAnswer = Static<typeof RevertAnswer>

/** Converts the result of a revert to the wire format. */
export function toRevertAnswer({ reverted, conflicts, runId }: RevertReport): RevertAnswer {
  return {
    reverted,
    conflicts: conflicts.map(({ recordId, field }) => ({ record_id: recordId, field })),
    run_id: runId,
  }
}
