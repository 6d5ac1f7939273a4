import { Type, type Static } from 'typebox'
import type { RevertReport } from '../sheet/revert.ts'
import { closedObject } from './closed-object.ts'

/** Body of `POST /api/revert`: a run, or a cell with the entry to undo. */
export const RevertBody = closedObject({
  run_id: Type.Optional(Type.String({ description: 'The run to undo.' })),
  record_id: Type.Optional(Type.String({ description: 'The record of the cell.' })),
  field: Type.Optional(Type.String({ description: 'The field of the cell.' })),
  seq: Type.Optional(
    Type.Integer({
      minimum: 1,
      title: 'the seq of a provenance entry',
      description: 'The provenance entry of the cell to undo.',
    }),
  ),
  actor: Type.Optional(Type.String({ description: 'Who reverts; the server default when absent.' })),
})
export type RevertBody = Static<typeof RevertBody>

/** Answer of `POST /api/revert`. */
export const RevertAnswer = Type.Object({
  reverted: Type.Integer({ description: 'Cells put back.' }),
  conflicts: Type.Array(Type.Object({ record_id: Type.String(), field: Type.String() }), {
    description: 'Cells that were left, since they do not hold any more what was to be undone.',
  }),
  run_id: Type.Union([Type.String(), Type.Null()], {
    description: 'The run that the revert was; null for a single cell.',
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
