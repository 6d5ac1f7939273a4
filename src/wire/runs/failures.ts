import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { filterParameter, whereParameter } from '../schema/conditions.ts'
import { failureReason, responseBody } from '../schema/failure-members.ts'

/** The id of a group of failures. */
export const failureGroup = Type.String({
  pattern: '^[0-9a-f]{13}$',
  title: 'the id of a group of failures (13 hex digits)',
  examples: ['1b2a3c4d5e6f7'],
  description: 'The id of a group of `GET /api/failures`.',
})

/** Query of `GET /api/failures`. */
export const FailuresQuery = closedObject({
  filter: Type.Optional(filterParameter),
  where: Type.Optional(whereParameter),
  run: Type.Optional(
    Type.String({
      description:
        'The failures of this run, whatever has become of the cells, in place of the cells that are failed now. Not with `filter` or `where`.',
    }),
  ),
})

/** Cells that failed in the same way. */
export const FailureGroupAnswer = Type.Object({
  id: Type.String({ description: 'The same for the same reason, at any time and on any server.' }),
  text: Type.String({
    description: 'What their errors have in common; the whole error of a single cell.',
  }),
  error_type: Type.String(),
  reason: failureReason,
  response_body: responseBody,
  cells: Type.Integer(),
  fields: Type.Record(Type.String(), Type.Integer(), { description: 'The number of cells of each field.' }),
  record_id: Type.String({ description: 'A record with one of the cells.' }),
})
export type FailureGroupAnswer = Static<typeof FailureGroupAnswer>

/** Response of `GET /api/failures`: the text that the store returns. */
export const FailuresAnswer = Type.Object({
  cells: Type.Integer({ description: 'The number of failed cells, of all groups.' }),
  groups: Type.Array(FailureGroupAnswer, {
    description: 'The 100 largest groups, in descending order of size.',
  }),
})
export type FailuresAnswer = Static<typeof FailuresAnswer>
