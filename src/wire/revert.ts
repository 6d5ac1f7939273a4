import { Type, type Static } from 'typebox'
import type { RevertReport } from '../sheet/revert.ts'
import { closedObject } from './closed-object.ts'

/** Records that one request restores, at most. */
export const MOST_RESTORED = 10_000

/** Body of `POST /api/revert`: a run, a cell with the entry to undo, or deleted records. */
export const RevertBody = closedObject({
  run_id: Type.Optional(Type.String({ description: 'The run to undo.' })),
  record_id: Type.Optional(Type.String({ description: 'The record of the cell, or the deleted record.' })),
  field: Type.Optional(
    Type.String({ description: 'The field of the cell; absent to restore a deleted record.' }),
  ),
  seq: Type.Optional(
    Type.Integer({
      minimum: 1,
      title: 'the seq of a provenance entry',
      description: 'The provenance entry of the cell to undo, or the deletion of the record.',
    }),
  ),
  record_ids: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      maxItems: MOST_RESTORED,
      title: 'a list of record ids',
      description: 'Deleted records to restore, each as its latest deletion left it: all of them or none.',
    }),
  ),
  actor: Type.Optional(Type.String({ description: 'Who reverts; the server default when absent.' })),
})
export type RevertBody = Static<typeof RevertBody>

/** Answer of `POST /api/revert`. */
export const RevertAnswer = Type.Object({
  reverted: Type.Integer({ description: 'Cells put back, or records restored.' }),
  conflicts: Type.Array(Type.Object({ record_id: Type.String(), field: Type.String() }), {
    description: 'Cells that were left, since they do not hold any more what was to be undone.',
  }),
  run_id: Type.Union([Type.String(), Type.Null()], {
    description: 'The run that the revert was; null for a single cell and for records.',
  }),
})
export type RevertAnswer = Static<typeof RevertAnswer>

/** Turns what a revert came to into its wire form. */
export function toRevertAnswer({ reverted, conflicts, runId }: RevertReport): RevertAnswer {
  return {
    reverted,
    conflicts: conflicts.map(({ recordId, field }) => ({ record_id: recordId, field })),
    run_id: runId,
  }
}
