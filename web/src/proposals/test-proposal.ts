import type {
  FieldDifferenceAnswer,
  ProposalAnswer,
  RecordDifferenceAnswer,
} from '../../../src/wire/records/proposals.ts'

/** Returns a proposed change of a field for tests. */
export function fieldOf(field: string, more: Partial<FieldDifferenceAnswer> = {}): FieldDifferenceAnswer {
  return { field, was: 1, now: 1, proposed: 2, moved: false, decision: null, ...more }
}

/** Returns a proposed change of a record for tests. */
export function recordOf(id: string, more: Partial<RecordDifferenceAnswer> = {}): RecordDifferenceAnswer {
  return {
    record_id: id,
    change: 'update',
    version: '3',
    moved: null,
    decision: null,
    fields: [fieldOf('price')],
    ...more,
  }
}

/** Returns a proposal for tests. */
export function proposalOf(more: Partial<ProposalAnswer> = {}): ProposalAnswer {
  return {
    id: '4',
    kind: 'upsert',
    state: 'waiting',
    proposed_by: 'agent:writer',
    proposed_at: '2026-05-01T00:00:00.000Z',
    note: null,
    record_count: 1,
    decided_by: null,
    decided_at: null,
    reason: null,
    records: [recordOf('a')],
    decisions: [],
    ...more,
  }
}
