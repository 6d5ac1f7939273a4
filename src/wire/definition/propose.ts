import { Type, type Static } from 'typebox'
import { noteText } from '../records/proposals.ts'
import { RecordInput } from '../records/records.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { PROPOSED_DEFINITIONS } from './contract-changes.ts'

const besides = {
  note: Type.Optional(noteText('A note for the person who decides; at most 2,000 characters.')),
  actor: Type.Optional(actorMember('The actor who proposes; the server default when absent.')),
}

/** Body of `POST /api/proposals`. */
export const ProposeBody = Type.Union(
  [
    closedObject({
      records: Type.Array(RecordInput, {
        description: 'Records to insert or merge, as `POST /api/records` takes them.',
        ...inDocument({ exampleOf: 'records' }),
      }),
      ...besides,
    }),
    closedObject({
      ids: Type.Array(Type.String(), {
        description: 'The ids of records to delete.',
        ...inDocument({ minItems: 1, exampleOf: 'recordIds' }),
      }),
      ...besides,
    }),
    ...PROPOSED_DEFINITIONS.map((members) => closedObject({ ...members, ...besides })),
  ],
  {
    title:
      'either "records", to propose a write of them, or "ids", to propose their deletion, or of a change of the definition "text" or "document", the contract, or "derivations" alone',
  },
)
export type ProposeBody = Static<typeof ProposeBody>
