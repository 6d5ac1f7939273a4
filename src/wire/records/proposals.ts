import { Type, type Static } from 'typebox'
import type {
  ProposalDetail,
  ProposalList,
  ProposalPart,
  ProposedCell,
  StoredProposal,
} from '../../sheet/writes/proposals.ts'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'
import { LineChangeAnswer } from '../schema/line-change.ts'
import { inDocument, STORABLE } from '../schema/openapi-keywords.ts'
import { cursorParameter, idsParameter, limitParameter } from '../schema/page-parameters.ts'

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

/** A note or reason, of at most `TEXT_LIMIT` characters (`sheet/writes/proposals.ts`). */
export const noteText = (description: string) =>
  Type.String({ description, ...inDocument({ maxLength: 2000, pattern: STORABLE }) })

/** The parts of a proposal that a decision is on. */
const decidedCells = Type.Array(
  closedObject({
    record_id: Type.String({ description: 'A record of the proposal.' }),
    fields: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Fields that it changes; all that wait when absent. A deletion has none.',
        ...inDocument({ minItems: 1 }),
      }),
    ),
  }),
  {
    description: 'The cells that the decision is on; the others wait. All that waits when absent.',
    ...inDocument({ minItems: 1 }),
  },
)

/** Body of `POST /api/proposals/{id}/accept`. */
export const AcceptProposalBody = closedObject({
  cells: Type.Optional(decidedCells),
  confirm: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description:
        'Of a change of the definition: the numbers of values that may be lost, by the names of removed fields; those of the proposal when absent.',
    }),
  ),
  actor: Type.Optional(actorMember('The actor who accepts, and so writes; the server default when absent.')),
})

/** Body of `POST /api/proposals/{id}/plan`. */
export const PlanProposalBody = closedObject({})

/** Body of `POST /api/proposals/{id}/reject`. */
export const RejectProposalBody = closedObject({
  cells: Type.Optional(decidedCells),
  reason: Type.Optional(noteText('The reason, for the proposer; at most 2,000 characters.')),
  actor: Type.Optional(actorMember('The actor who rejects; the server default when absent.')),
})

/** The cells of a body, which the type of `ProposalPart` names otherwise. */
export type DecidedCells = Static<typeof decidedCells>

/** Converts the cells of a body; null for none. */
export function toProposalParts(cells: DecidedCells | null | undefined): readonly ProposalPart[] | null {
  return cells?.map(({ record_id: recordId, fields = null }) => ({ recordId, fields })) ?? null
}

/** A proposal in a list. */
export const ProposalSummary = Type.Object({
  id: Type.String({ description: 'Counts up.' }),
  kind: Type.Union([Type.Literal('upsert'), Type.Literal('delete'), Type.Literal('definition')]),
  state: Type.Union([Type.Literal('waiting'), Type.Literal('accepted'), Type.Literal('rejected')], {
    description: 'Waits while a part of it does; then accepted where any part was.',
  }),
  proposed_by: Type.String(),
  proposed_at: Type.String(),
  note: textOrNull('The note of the proposer.'),
  record_count: Type.Integer({ description: 'The number of records that it changes.' }),
  decided_by: textOrNull('The actor who made the last decision; null while it waits.'),
  decided_at: textOrNull('The time of the last decision; null while it waits.'),
  reason: textOrNull('The reason for the rejection.'),
})
export type ProposalSummary = Static<typeof ProposalSummary>

const decision = Type.Union([Type.Literal('accepted'), Type.Literal('rejected'), Type.Null()], {
  description: 'Null while it waits.',
})

/** The change of one field by a proposal. */
export const FieldDifferenceAnswer = Type.Object({
  field: Type.String(),
  was: Type.Unknown({ description: 'The value when it was proposed.' }),
  now: Type.Unknown({ description: 'The value that the field has now.' }),
  proposed: Type.Unknown({ description: 'Null clears the field; always null in a deletion.' }),
  moved: Type.Boolean({ description: 'Whether the value has changed since the proposal.' }),
  decision,
})
export type FieldDifferenceAnswer = Static<typeof FieldDifferenceAnswer>

/** The change of one record by a proposal. */
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
    { description: 'The change of the record since the proposal, which prevents its acceptance.' },
  ),
  decision,
  fields: Type.Array(FieldDifferenceAnswer),
})
export type RecordDifferenceAnswer = Static<typeof RecordDifferenceAnswer>

/** The change of the definition by a proposal. */
export const DefinitionDifferenceAnswer = Type.Object(
  {
    files: Type.Array(
      Type.Object({
        path: Type.String(),
        before: textOrNull('The text when it was proposed; null where there was no such file.'),
        after: textOrNull('The proposed text; null removes the file.'),
        moved: Type.Boolean({
          description: 'Whether the file has changed since the proposal, which prevents its acceptance.',
        }),
      }),
    ),
    edits: Type.Array(LineChangeAnswer, { description: 'The lines of the files that differ.' }),
    reverts: textOrNull('The id of the change that it takes back; null for none.'),
  },
  { description: 'Absent for a change of records.' },
)
export type DefinitionDifferenceAnswer = Static<typeof DefinitionDifferenceAnswer>

/** Response of `GET /api/proposals/{id}`. */
export const ProposalAnswer = Type.Object({
  ...ProposalSummary.properties,
  records: Type.Array(RecordDifferenceAnswer),
  decisions: Type.Array(
    Type.Object({
      state: Type.Union([Type.Literal('accepted'), Type.Literal('rejected')]),
      by: Type.String(),
      at: Type.String(),
      reason: textOrNull('The reason for the rejection.'),
    }),
    { description: 'The decisions on it and on parts of it, in their order.' },
  ),
  definition: Type.Optional(DefinitionDifferenceAnswer),
})

export type ProposalAnswer = Static<typeof ProposalAnswer>

/** Response of `GET /api/proposals`. */
export const ProposalListAnswer = Type.Object({
  proposals: Type.Array(ProposalSummary),
  waiting: Type.Integer({ description: 'The number of waiting proposals, whatever the filter.' }),
  next_cursor: textOrNull('Null on the last page.'),
})
export type ProposalListAnswer = Static<typeof ProposalListAnswer>

/** Converts a proposal to the wire format. */
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

/** Converts a proposal with its differences to the wire format. */
export function toProposalAnswer({
  records,
  definition,
  decisions,
  ...proposal
}: ProposalDetail): ProposalAnswer {
  return {
    ...toProposalSummary(proposal),
    records: records.map(({ recordId, change, version, moved, decision: made, fields }) => ({
      record_id: recordId,
      change,
      version,
      moved,
      decision: made,
      fields: fields.map((field) => ({ ...field })),
    })),
    decisions: decisions.map((one) => ({ ...one })),
    ...(definition !== null && {
      definition: {
        files: definition.files.map((file) => ({ ...file })),
        edits: definition.edits.map((edit) => ({ ...edit })),
        reverts: definition.reverts,
      },
    }),
  }
}

/** Converts a page of proposals to the wire format. */
export function toProposalListAnswer({ proposals, waiting, nextCursor }: ProposalList): ProposalListAnswer {
  return { proposals: proposals.map(toProposalSummary), waiting, next_cursor: nextCursor }
}

/** Query of `GET /api/cells/proposed`. */
export const ProposedCellsQuery = closedObject({
  ids: idsParameter('Comma-separated record ids, 1 to 1000.', { maxItems: 1000 }),
})

/** Response of `GET /api/cells/proposed`. */
export const ProposedCellsAnswer = Type.Object({
  cells: Type.Array(
    Type.Object({
      record_id: Type.String(),
      field: textOrNull('Null where the record is to be deleted.'),
      proposal: Type.String({ description: 'The id of the proposal.' }),
      proposed_by: Type.String(),
      value: Type.Optional(
        Type.Unknown({ description: 'Absent where its JSON has 1,000 characters or more.' }),
      ),
    }),
  ),
})
export type ProposedCellsAnswer = Static<typeof ProposedCellsAnswer>

/** Converts proposed cells to the wire format. */
export function toProposedCellsAnswer(cells: readonly ProposedCell[]): ProposedCellsAnswer {
  return {
    cells: cells.map(({ recordId, field, proposal, proposedBy, value }) => ({
      record_id: recordId,
      field,
      proposal,
      proposed_by: proposedBy,
      ...(value !== undefined && { value }),
    })),
  }
}
