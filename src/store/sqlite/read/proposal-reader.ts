import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { differenceOf, type ProposedRecord } from '../../rules/proposal-difference.ts'
import type {
  ProposalCounts,
  ProposalDetail,
  ProposalId,
  ProposalsQuery,
  RecordDifference,
  StoredProposal,
} from '../../stored-proposal.ts'
import type { Connection } from '../database/connection.ts'
import { presentRecord } from './present-record.ts'
import { runNumber, storedProposal } from '../../rows/stored-rows.ts'

/** A proposal; null for a text that is the id of none. */
export function readProposal(db: Connection, id: ProposalId): StoredProposal | null {
  const row = db.get('SELECT * FROM "$proposal" WHERE id = ?', runNumber(id))
  return row === undefined ? null : storedProposal(row)
}

/** What a proposal does to each of its records, in order; so many of them, after one of this number. */
export function readProposedRecords(
  db: Connection,
  id: ProposalId,
  { after, limit }: { readonly after: number; readonly limit: number } = ALL,
): ProposedRecord[] {
  return db
    .all(
      'SELECT * FROM "$proposal_record" WHERE proposal = ? AND number > ? ORDER BY number LIMIT ?',
      runNumber(id),
      after,
      limit,
    )
    .map((row) => ({
      recordId: String(row['record_id']),
      key: row['record'] === null ? null : Number(row['record']),
      version: row['version'] === null ? null : String(row['version']),
      was: JSON.parse(String(row['was'])) as JsonObject,
      change: row['change'] === null ? null : (JSON.parse(String(row['change'])) as JsonObject),
    }))
}

const ALL = { after: -1, limit: -1 }

/** Records compared before other requests have their turn: a few milliseconds. */
const RECORDS_AT_ONCE = 50

/** A proposal with its differences to the records of now, put together over several turns. */
export async function readProposalDetail(
  db: Connection,
  contract: Contract,
  id: ProposalId,
): Promise<ProposalDetail | null> {
  for (;;) {
    const proposal = readProposal(db, id)
    if (proposal === null) return null
    const records = await readDifferences(db, contract, proposal)
    // Decided meanwhile, its own values would look like those of somebody else.
    if (readProposal(db, id)?.state === proposal.state) return { ...proposal, records }
  }
}

async function readDifferences(
  db: Connection,
  contract: Contract,
  { id, state, recordCount }: StoredProposal,
): Promise<RecordDifference[]> {
  const derived = new Set(db.all('SELECT field FROM "$target" WHERE active = 1').map(({ field }) => field))
  const present = { contract, isDerived: (field: string) => derived.has(field) }
  const records: RecordDifference[] = []
  while (records.length < recordCount) {
    if (records.length > 0) await nextTurn()
    const page = { after: records.length - 1, limit: RECORDS_AT_ONCE }
    for (const record of readProposedRecords(db, id, page)) {
      const difference = differenceOf(
        present,
        record,
        presentRecord(db, record.recordId, comparedFields(contract, record)),
      )
      records.push(state === 'waiting' ? difference : settled(difference))
    }
  }
  return records
}

/** The fields whose present values a difference has: not others, which may be long. Null for all, as of a deletion. */
function comparedFields({ fields }: Contract, { was, change }: ProposedRecord): readonly Field[] | null {
  if (change === null) return null
  return fields.filter(({ name }) => Object.hasOwn(was, name) || Object.hasOwn(change, name))
}

/** What is decided cannot be in the way of anything. */
function settled(record: RecordDifference): RecordDifference {
  return { ...record, moved: null, fields: record.fields.map((field) => ({ ...field, moved: false })) }
}

/** Proposals, newest first. */
export function readProposals(db: Connection, { state, before, limit }: ProposalsQuery): StoredProposal[] {
  const end = before === null ? Number.MAX_SAFE_INTEGER : runNumber(before)
  const rows =
    state === null
      ? db.all('SELECT * FROM "$proposal" WHERE id < ? ORDER BY id DESC LIMIT ?', end, limit)
      : db.all(
          'SELECT * FROM "$proposal" WHERE state = ? AND id < ? ORDER BY id DESC LIMIT ?',
          state,
          end,
          limit,
        )
  return rows.map(storedProposal)
}

export function readProposalCounts(db: Connection): ProposalCounts {
  const row = db.get(
    `SELECT (SELECT count(*) FROM "$proposal" WHERE state = 'waiting') AS waiting, proposal_changes AS changes FROM "$sheet"`,
  )
  return { waiting: Number(row?.['waiting']), changes: Number(row?.['changes']) }
}
