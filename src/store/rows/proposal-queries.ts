import type { JsonObject } from '../../contract/json/json.ts'
import type { RecordKey } from '../cell-work.ts'
import type {
  Decision,
  MadeDecision,
  PartDecisions,
  ProposalCounts,
  ProposalId,
  ProposalsQuery,
  StoredProposal,
  ProposedDefinition,
  ProposedRecord,
  WaitingProposals,
} from '../stored-proposal.ts'
import type { Query, Statement } from './query.ts'
import { runNumber, storedProposal, textOrNull } from './stored-rows.ts'

const COLUMNS = 'id, kind, state, actor, note, at, records, decided_by, decided_at, reason'

/** Reads a proposal; null for an unknown id, whatever text it is. */
export function proposalById(id: ProposalId): Query<StoredProposal | null> {
  return {
    sql: `SELECT ${COLUMNS} FROM "$proposal" WHERE id = ?1`,
    params: [runNumber(id)],
    result: ([row]) => (row === undefined ? null : storedProposal(row)),
  }
}

/** Reads the decisions on parts of a proposal; null for none, and where one decision was on all of it. */
export function decisionsOnParts(id: ProposalId): Query<readonly MadeDecision[] | null> {
  return {
    sql: 'SELECT decisions FROM "$proposal" WHERE id = ?1',
    params: [runNumber(id)],
    result: ([row]) => {
      const text = textOrNull(row?.['decisions'])
      return text === null ? null : (JSON.parse(text) as readonly MadeDecision[])
    },
  }
}

/** Reads a proposed change of the definition; null for none. */
export function proposedDefinition(id: ProposalId): Query<ProposedDefinition | null> {
  return {
    sql: 'SELECT definition FROM "$proposal" WHERE id = ?1',
    params: [runNumber(id)],
    result: ([row]) => {
      const text = textOrNull(row?.['definition'])
      return text === null ? null : (JSON.parse(text) as ProposedDefinition)
    },
  }
}

export function proposalsBefore({ state, before, limit }: ProposalsQuery): Query<readonly StoredProposal[]> {
  const end = before === null ? Number.MAX_SAFE_INTEGER : runNumber(before)
  const inState = state === null ? '' : 'AND state = ?3'
  return {
    sql: `SELECT ${COLUMNS} FROM "$proposal" WHERE id < ?1 ${inState} ORDER BY id DESC LIMIT ?2`,
    params: [end, limit, ...(state === null ? [] : [state])],
    result: (rows) => rows.map(storedProposal),
  }
}

const ALL = { after: -1, limit: Number.MAX_SAFE_INTEGER }

/** Reads all records of a proposal in order. */
export function proposedRecords(id: ProposalId): Query<readonly NumberedRecord[]> {
  const { result, ...query } = proposedRows(id, ALL)
  return {
    ...query,
    result: (rows) =>
      result(rows).map(({ was, change, fieldsSeq, ...row }, number) => {
        const record = {
          ...row,
          was: JSON.parse(was) as JsonObject,
          change: change === null ? null : (JSON.parse(change) as JsonObject),
        }
        return { record, fieldsSeq, number }
      }),
  }
}

/** A record of a proposal with its number in it, and the seq of the change of fields whose names and types its values have. */
export interface NumberedRecord {
  readonly record: ProposedRecord
  readonly fieldsSeq: number
  readonly number: number
}

/** Reads the records of a proposal in order, unparsed: at most `limit` of them after the number `after`. */
export function proposedRows(
  id: ProposalId,
  { after, limit }: { readonly after: number; readonly limit: number },
): Query<readonly StoredProposedRow[]> {
  return {
    sql: `SELECT record_id, record, version, was, change, decided, fields_seq FROM "$proposal_record"
      JOIN "$proposal" ON "$proposal".id = proposal WHERE proposal = ?1 AND number > ?2 ORDER BY number LIMIT ?3`,
    params: [runNumber(id), after, limit],
    result: (rows) =>
      rows.map((row) => ({
        recordId: String(row['record_id']),
        key: row['record'] === null ? null : Number(row['record']),
        version: row['version'] === null ? null : String(row['version']),
        was: String(row['was']),
        change: row['change'] === null ? null : String(row['change']),
        decided: decisionsIn(textOrNull(row['decided'])),
        fieldsSeq: Number(row['fields_seq']),
      })),
  }
}

/** The waiting changes of records that are read together. */
const CHANGES_AT_ONCE = 1000

/** Length in characters from which the JSON of a change is read alone. */
const LONG_CHANGE = 16_384

/** A waiting change of a record: its row without `was`, and `change` undefined for a long one. */
export interface WaitingChange extends Omit<StoredProposedRow, 'was' | 'change'> {
  readonly proposal: ProposalId
  readonly proposedBy: string
  readonly number: number
  readonly change: string | null | undefined
}

/** Reads the waiting changes of records, those of the newest proposal first. */
export function waitingChanges(recordIds: readonly string[]): Query<readonly WaitingChange[]> {
  const ids = recordIds.map((_, index) => `?${index + 1}`)
  return {
    sql: `SELECT id, actor, number, record_id, record, version, decided, fields_seq, change IS NULL AS deletes,
        CASE WHEN length(change) < ${LONG_CHANGE} THEN change END AS change
      FROM "$proposal_record" JOIN "$proposal" ON id = proposal
      WHERE state = 'waiting' AND record_id IN (${ids.join(', ')})
      ORDER BY id DESC, number LIMIT ${CHANGES_AT_ONCE}`,
    params: recordIds,
    result: (rows) =>
      rows.map((row) => ({
        proposal: String(row['id']),
        proposedBy: String(row['actor']),
        number: Number(row['number']),
        recordId: String(row['record_id']),
        key: row['record'] === null ? null : Number(row['record']),
        version: row['version'] === null ? null : String(row['version']),
        decided: decisionsIn(textOrNull(row['decided'])),
        fieldsSeq: Number(row['fields_seq']),
        change: row['deletes'] ? null : (textOrNull(row['change']) ?? undefined),
      })),
  }
}

function decisionsIn(json: string | null): PartDecisions {
  return json === null ? {} : (JSON.parse(json) as PartDecisions)
}

/** Counts the proposals that wait, and the changes of proposals so far. */
export const PROPOSAL_COUNTS: Query<ProposalCounts> = {
  sql: `SELECT (SELECT count(*) FROM "$proposal" WHERE state = 'waiting') AS waiting, proposal_changes AS changes FROM "$sheet"`,
  params: [],
  result: ([row]) => ({ waiting: Number(row?.['waiting']), changes: Number(row?.['changes']) }),
}

/** Counts the proposals that wait, and their bytes. */
export const WAITING_PROPOSALS: Query<WaitingProposals> = {
  sql: `SELECT count(*) AS waiting, coalesce(sum(bytes), 0) AS bytes FROM "$proposal" WHERE state = 'waiting'`,
  params: [],
  result: ([row]) => ({ waiting: Number(row?.['waiting']), bytes: Number(row?.['bytes']) }),
}

/** Takes the id of a new proposal; ids ascend and are never reused. */
export const NEXT_PROPOSAL: Query<number> = {
  sql: `UPDATE "$sheet" SET last_proposal = last_proposal + 1, proposal_changes = proposal_changes + 1
    RETURNING last_proposal AS id`,
  params: [],
  result: ([row]) => Number(row?.['id']),
}

/** A row of `$proposal`. */
interface ProposalToInsert {
  readonly id: number
  readonly kind: StoredProposal['kind']
  readonly actor: string
  readonly note: string | null
  readonly at: string
  readonly bytes: number
  /** The number of its records. */
  readonly records: number
  /** JSON of a change of the definition; null for none. */
  readonly definition: string | null
}

/** A row of `$proposal_record`. */
export interface ProposedRow extends Omit<ProposedRecord, 'was' | 'change' | 'decided'> {
  readonly was: string
  readonly change: string | null
}

/** A row of `$proposal_record`, and the seq of the change of fields whose names and types its values have. */
export interface StoredProposedRow extends ProposedRow {
  readonly decided: PartDecisions
  readonly fieldsSeq: number
}

/** Inserts the row of a proposal, without those of its records. */
export function insertProposal(proposal: ProposalToInsert): Statement {
  const { id, kind, actor, note, at, bytes, records, definition } = proposal
  return {
    sql: `INSERT INTO "$proposal" (id, kind, state, actor, note, at, records, bytes, definition, fields_seq)
      VALUES (?1, ?2, 'waiting', ?3, ?4, ?5, ?6, ?7, ?8, (SELECT coalesce(max(seq), 0) FROM "$field_change"))`,
    params: [id, kind, actor, note, at, records, bytes, definition],
  }
}

/** Stores that nothing of a proposal waits any more after a decision. */
export function decideProposal(
  id: ProposalId,
  state: Decision,
  { by, at, reason }: Omit<MadeDecision, 'state'>,
): Statement {
  return {
    sql: 'UPDATE "$proposal" SET state = ?1, decided_by = ?2, decided_at = ?3, reason = ?4 WHERE id = ?5',
    params: [state, by, at, reason, runNumber(id)],
  }
}

/** Stores the decisions on parts of a proposal. */
export function setDecisions(id: ProposalId, decisions: readonly MadeDecision[]): Statement {
  return {
    sql: 'UPDATE "$proposal" SET decisions = ?1 WHERE id = ?2',
    params: [JSON.stringify(decisions), runNumber(id)],
  }
}

/** The decisions on parts of a record of a proposal, for its row of `$proposal_record`. */
export interface DecidedRow {
  readonly number: number
  /** JSON of {@link PartDecisions}. */
  readonly decided: string
  /** The record that it changes from now on; null where it does not exist. */
  readonly key: RecordKey | null
  readonly version: string | null
}

/** Counts a change of a proposal. */
export const COUNT_PROPOSAL_CHANGE: Statement = {
  sql: 'UPDATE "$sheet" SET proposal_changes = proposal_changes + 1',
  params: [],
}

/** Reads the names of the fields that are derived now. */
export const DERIVED_FIELDS: Query<ReadonlySet<string>> = {
  sql: 'SELECT field FROM "$target" WHERE active',
  params: [],
  result: (rows) => new Set(rows.map(({ field }) => String(field))),
}
