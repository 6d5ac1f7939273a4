import { Type, type Static } from 'typebox'
import type { ProposalDetail, ProposalList, StoredProposal } from '../../sheet/writes/proposals.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument, STORABLE } from '../schema/openapi-keywords.ts'
import { RecordInput } from './records.ts'
import { cursorParameter, limitParameter } from '../schema/page-parameters.ts'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

/** Path of one proposal. */
export const ProposalParams = Type.Object({ id: Type.String({ description: 'The id of the proposal.' }) })

/** Query of `GET /api/proposals`. */
export const ProposalsQuery = closedObject({
  state: Type.Optional(
    Type.String({
      pattern: '^(waiting|accepted|rejected)?$',
      title: 'waiting, accepted or rejected',
      description: 'Only proposals in this state; all when absent.',
      ...inDocument({ pattern: undefined, allowEmptyValue: true, enum: ['waiting', 'accepted', 'rejected'] }),
    }),
  ),
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(cursorParameter('A `next_cursor` of this list, for the same `state`.')),
})

/** A text of a person, which may have so many characters as `TEXT_LIMIT` of the use case says. */
const noteText = (description: string) =>
  Type.String({ description, ...inDocument({ maxLength: 2000, pattern: STORABLE }) })

const besides = {
  note: Type.Optional(noteText('Why, for whoever decides; at most 2,000 characters.')),
  actor: Type.Optional(actorMember('Who proposes; the server default when absent.')),
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
  ],
  {
    title: 'either "records", to propose a write of them, or "ids", to propose their deletion',
  },
)
export type ProposeBody = Static<typeof ProposeBody>

/** Body of `POST /api/proposals/{id}/accept`. */
export const AcceptProposalBody = closedObject({
  actor: Type.Optional(actorMember('Who accepts, and so writes; the server default when absent.')),
})

/** Body of `POST /api/proposals/{id}/reject`. */
export const RejectProposalBody = closedObject({
  reason: Type.Optional(noteText('Why, for the proposer; at most 2,000 characters.')),
  actor: Type.Optional(actorMember('Who rejects; the server default when absent.')),
})

/** A proposal, as lists show it. */
export const ProposalSummary = Type.Object({
  id: Type.String({ description: 'Counts up.' }),
  kind: Type.Union([Type.Literal('upsert'), Type.Literal('delete')]),
  state: Type.Union([Type.Literal('waiting'), Type.Literal('accepted'), Type.Literal('rejected')]),
  proposed_by: Type.String(),
  proposed_at: Type.String(),
  note: textOrNull('Why, in the words of the proposer.'),
  record_count: Type.Integer({ description: 'How many records it is about.' }),
  decided_by: textOrNull('Who accepted or rejected it; null while it waits.'),
  decided_at: textOrNull('When; null while it waits.'),
  reason: textOrNull('Why it was rejected.'),
})
export type ProposalSummary = Static<typeof ProposalSummary>

/** What a proposal does to one field. */
export const FieldDifferenceAnswer = Type.Object({
  field: Type.String(),
  was: Type.Unknown({ description: 'The value when it was proposed.' }),
  now: Type.Unknown({ description: 'The value that the field has now.' }),
  proposed: Type.Unknown({ description: 'Null clears the field; of a deletion always null.' }),
  moved: Type.Boolean({ description: 'Whether it has another value now than then.' }),
})
export type FieldDifferenceAnswer = Static<typeof FieldDifferenceAnswer>

/** What a proposal does to one record. */
export const RecordDifferenceAnswer = Type.Object({
  record_id: Type.String(),
  change: Type.Union([Type.Literal('create'), Type.Literal('update'), Type.Literal('delete')]),
  version: textOrNull('The version that the record had when it was proposed; null when it did not exist.'),
  moved: Type.Union(
    [
      Type.Literal('created'),
      Type.Literal('deleted'),
      Type.Literal('recreated'),
      Type.Literal('changed'),
      Type.Null(),
    ],
    { description: 'How the record has moved since, which keeps the proposal from being accepted.' },
  ),
  fields: Type.Array(FieldDifferenceAnswer),
})
export type RecordDifferenceAnswer = Static<typeof RecordDifferenceAnswer>

/** Answer of `GET /api/proposals/{id}`. */
export const ProposalAnswer = Type.Object({
  ...ProposalSummary.properties,
  records: Type.Array(RecordDifferenceAnswer),
})
export type ProposalAnswer = Static<typeof ProposalAnswer>

/** Answer of `GET /api/proposals`. */
export const ProposalListAnswer = Type.Object({
  proposals: Type.Array(ProposalSummary),
  waiting: Type.Integer({ description: 'How many wait, whatever is asked for.' }),
  next_cursor: textOrNull('Null exactly when nothing follows.'),
})
export type ProposalListAnswer = Static<typeof ProposalListAnswer>

/** Turns a proposal into its wire form. */
export function toProposalSummary(proposal: StoredProposal): ProposalSummary {
  return {
    id: proposal.id,
    kind: proposal.kind,
    state: proposal.state,
    proposed_by: proposal.proposedBy,
    proposed_at: proposal.proposedAt,
    note: proposal.note,
    record_count: proposal.recordCount,
    decided_by: proposal.decidedBy,
    decided_at: proposal.decidedAt,
    reason: proposal.reason,
  }
}

/** Turns a proposal with its differences into its wire form. */
export function toProposalAnswer({ records, ...proposal }: ProposalDetail): ProposalAnswer {
  return {
    ...toProposalSummary(proposal),
    records: records.map(({ recordId, change, version, moved, fields }) => ({
      record_id: recordId,
      change,
      version,
      moved,
      fields: fields.map((field) => ({ ...field })),
    })),
  }
}

/** Turns a page of proposals into its wire form. */
export function toProposalListAnswer({ proposals, waiting, nextCursor }: ProposalList): ProposalListAnswer {
  return { proposals: proposals.map(toProposalSummary), waiting, next_cursor: nextCursor }
}
