/**
 * Adds decisions on parts of proposals, in the SQL of both engines.
 *
 * - `$proposal.decisions`: the decisions on parts so far, as JSON of {@link MadeDecision}; null for none, and where one decision was
 *   on all of it.
 * - `$proposal_record.decided`: JSON of {@link PartDecisions}, with the names that fields had at `$proposal.fields_seq`; null for none.
 * - `$proposal_of_record` finds the proposals of a record.
 */
export const PROPOSAL_PARTS = `
  ALTER TABLE "$proposal" ADD COLUMN decisions TEXT;
  ALTER TABLE "$proposal_record" ADD COLUMN decided TEXT;
  CREATE INDEX "$proposal_of_record" ON "$proposal_record" (record_id);
`
