import type { Contract } from '../../../contract/contract.ts'
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
import { readPresentRecords } from './present-records.ts'
import { runNumber, storedProposal } from '../../rows/stored-rows.ts'

const COLUMNS = 'id, kind, state, actor, note, at, records, decided_by, decided_at, reason'

/** A proposal; null for a text that is the id of none. */
export async function readProposal(db: Connection, id: ProposalId): Promise<StoredProposal | null> {
  const row = await db.get(`SELECT ${COLUMNS} FROM "$proposal" WHERE id = $1`, runNumber(id))
  return row === undefined ? null : storedProposal(row)
}

/** What a proposal does to each of its records, in order; at most `limit` of them, after the one of number `after`. */
export async function readProposedRecords(
  db: Connection,
  id: ProposalId,
  { after, limit }: { readonly after: number; readonly limit: number | null } = ALL,
): Promise<ProposedRecord[]> {
  const rows = await db.all(
    `SELECT record_id, record, version, was, change FROM "$proposal_record"
     WHERE proposal = $1 AND number > $2 ORDER BY number LIMIT $3`,
    runNumber(id),
    after,
    limit,
  )
  return rows.map((row) => ({
    recordId: String(row['record_id']),
    key: row['record'] === null ? null : Number(row['record']),
    version: row['version'] === null ? null : String(row['version']),
    was: JSON.parse(String(row['was'])) as JsonObject,
    change: row['change'] === null ? null : (JSON.parse(String(row['change'])) as JsonObject),
  }))
}

const ALL = { after: -1, limit: null }

/** Records that are read and compared before other requests have their turn. */
const RECORDS_AT_ONCE = 200

/** A proposal with its differences to the records of now, put together over several turns. */
export async function readProposalDetail(
  db: Connection,
  contract: Contract,
  id: ProposalId,
): Promise<ProposalDetail | null> {
  for (;;) {
    const proposal = await readProposal(db, id)
    if (proposal === null) return null
    const records = await readDifferences(db, contract, proposal)
    // Decided meanwhile, its own values would look like those of somebody else.
    if ((await readProposal(db, id))?.state === proposal.state) return { ...proposal, records }
  }
}

async function readDifferences(
  db: Connection,
  contract: Contract,
  { id, state, recordCount }: StoredProposal,
): Promise<RecordDifference[]> {
  const targets = await db.all('SELECT field FROM "$target" WHERE active')
  const derived = new Set(targets.map(({ field }) => field))
  const present = { contract, isDerived: (field: string) => derived.has(field) }
  const records: RecordDifference[] = []
  while (records.length < recordCount) {
    const page = { after: records.length - 1, limit: RECORDS_AT_ONCE }
    const proposed = await readProposedRecords(db, id, page)
    const ids = proposed.map(({ recordId }) => recordId)
    const now = await readPresentRecords(db, contract.fields, ids)
    for (const record of proposed) {
      const difference = differenceOf(present, record, now.get(record.recordId) ?? null)
      records.push(state === 'waiting' ? difference : settled(difference))
    }
  }
  return records
}

/** What is decided cannot be in the way of anything. */
function settled(record: RecordDifference): RecordDifference {
  return { ...record, moved: null, fields: record.fields.map((field) => ({ ...field, moved: false })) }
}

/** Proposals, newest first. */
export async function readProposals(
  db: Connection,
  { state, before, limit }: ProposalsQuery,
): Promise<StoredProposal[]> {
  const end = before === null ? Number.MAX_SAFE_INTEGER : runNumber(before)
  const rows =
    state === null
      ? await db.all(`SELECT ${COLUMNS} FROM "$proposal" WHERE id < $1 ORDER BY id DESC LIMIT $2`, end, limit)
      : await db.all(
          `SELECT ${COLUMNS} FROM "$proposal" WHERE id < $1 AND state = $3 ORDER BY id DESC LIMIT $2`,
          end,
          limit,
          state,
        )
  return rows.map(storedProposal)
}

/** How many proposals wait, and how many changes of proposals there were. */
export async function readProposalCounts(db: Connection): Promise<ProposalCounts> {
  const row = await db.get(
    `SELECT (SELECT count(*) FROM "$proposal" WHERE state = 'waiting') AS waiting, proposal_changes AS changes FROM "$sheet"`,
  )
  return { waiting: Number(row?.['waiting']), changes: Number(row?.['changes']) }
}
