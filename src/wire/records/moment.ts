import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { asOfParameter } from './records.ts'

/** Query of `GET /api/history`. */
export const MomentQuery = closedObject({ as_of: Type.Optional(asOfParameter) })

const timeOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const seqOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

/** Response of `GET /api/history`. */
export const MomentAnswer = Type.Object({
  seq: Type.Integer({ description: 'The state right after this entry; 0 before the first.' }),
  at: timeOrNull('The time of the entry; null before the first.'),
  actor: Type.Union([Type.String(), Type.Null()]),
  source: Type.Union([Type.String(), Type.Null()]),
  total: Type.Integer({ description: 'The number of records that existed.' }),
  previous: seqOrNull(
    'The state before the last change; null for none. Entries of the same time are one change.',
  ),
  next: seqOrNull('The state after the next change; null for none.'),
  first: Type.Integer({ description: 'The first state that is known.' }),
  first_at: timeOrNull('The time of the entry `first`; null for none.'),
  last: Type.Integer({ description: 'The last entry.' }),
  last_at: timeOrNull('The time of the last entry; null for none.'),
})
export type MomentAnswer = Static<typeof MomentAnswer>
