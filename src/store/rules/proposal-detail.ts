import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { parseStoredJsonInTurns } from '../../contract/json/json-text.ts'
import { RawJson, rawMembersInTurns } from '../../contract/json/raw-json.ts'
import { presentProposed, type FieldHistory } from '../fields/present-values.ts'
import { FIELD_CHANGES } from '../fields/stored-changes.ts'
import {
  decisionsOnParts,
  DERIVED_FIELDS,
  proposalById,
  proposedRows,
  waitingChanges,
  type StoredProposedRow,
} from '../rows/proposal-queries.ts'
import type { Query } from '../rows/query.ts'
import type { SheetStore } from '../sheet-store.ts'
import {
  PROPOSAL_LIMITS,
  type Decision,
  type MadeDecision,
  type ProposalDetail,
  type ProposalId,
  type ProposedCell,
  type ProposedRecord,
  type RecordDifference,
  type StoredProposal,
} from '../stored-proposal.ts'
import { waitingParts } from './proposal-rules.ts'
import { differenceOf, type PresentRecord } from './proposal-difference.ts'
import type { Loaded } from './steps.ts'

/** The source of records with which a proposal is compared. */
export interface ProposalSource {
  readonly db: { query<T>(query: Query<T>): Loaded<T> }
  readonly records: Pick<SheetStore, 'record' | 'recordKeys'>
  readonly contract: Contract
  /** The number of records that are read and compared between two turns of the event loop. */
  readonly recordsAtOnce: number
}

/**
 * The size in bytes of a present value that differs from any proposed one: PostgreSQL writes at most twice as many for
 * the same value.
 */
const DIFFERENT_BYTES = 2 * PROPOSAL_LIMITS.bytes

/** Reads a proposal with its differences to the present records; null for an unknown id. */
export async function proposalDetail(source: ProposalSource, id: ProposalId): Promise<ProposalDetail | null> {
  for (;;) {
    const proposal = await source.db.query(proposalById(id))
    if (proposal === null) return null
    const before = await source.db.query(decisionsOnParts(id))
    const records = await differencesOf(source, proposal)
    const [now, after] = [
      await source.db.query(proposalById(id)),
      await source.db.query(decisionsOnParts(id)),
    ]
    // Were a part decided meanwhile, its own values would look like those of others.
    if (now?.state === proposal.state && after?.length === before?.length)
      return { ...proposal, records, decisions: before ?? wholeDecision(proposal) }
  }
}

/** Length in characters from which the JSON of a proposed value is not shown beside its cell. */
const LONG_VALUE = 1000

/** Reads the cells of records for which proposals wait; see {@link ProposalStore.cells}. */
export async function proposedCells(
  { db, contract, recordsAtOnce }: Pick<ProposalSource, 'db' | 'contract' | 'recordsAtOnce'>,
  recordIds: readonly string[],
): Promise<readonly ProposedCell[]> {
  const history = { contract, changes: await db.query(FIELD_CHANGES) }
  const cells: ProposedCell[] = []
  for (const [index, waiting] of (await db.query(waitingChanges(recordIds))).entries()) {
    const { proposal, proposedBy, number, change, ...row } = waiting
    const [long] =
      change === undefined
        ? await db.query(proposedRows(proposal, { after: number - 1, limit: 1 }))
        : [{ ...row, was: '{}', change }]
    if (long === undefined) continue
    const record = await parsed(long, history)
    const of = { recordId: record.recordId, proposal, proposedBy }
    for (const field of waitingParts(record)) {
      const value = record.change?.[field] ?? null
      const isLong = JSON.stringify(value).length >= LONG_VALUE
      const isDeleted = record.change === null
      cells.push({ ...of, field: isDeleted ? null : field, value: isLong ? undefined : value })
    }
    if (change === undefined || index % recordsAtOnce === 0) await nextTurn()
  }
  return cells
}

/** Returns the decision of a proposal without decisions on parts; none while it waits. */
function wholeDecision({ state, decidedBy: by, decidedAt: at, reason }: StoredProposal): MadeDecision[] {
  return state === 'waiting' || by === null || at === null ? [] : [{ state, by, at, reason }]
}

async function differencesOf(
  source: ProposalSource,
  { id, state, recordCount }: StoredProposal,
): Promise<RecordDifference[]> {
  const { contract, recordsAtOnce: limit } = source
  const derived = await source.db.query(DERIVED_FIELDS)
  const present = { contract, isDerived: (field: string) => derived.has(field) }
  const history = { contract, changes: await source.db.query(FIELD_CHANGES) }
  const records: RecordDifference[] = []
  while (records.length < recordCount) {
    const rows = await source.db.query(proposedRows(id, { after: records.length - 1, limit }))
    const proposed: ProposedRecord[] = []
    for (const row of rows) proposed.push(await parsed(row, history))
    const now = await presentRecords(source, proposed)
    for (const record of proposed) {
      const difference = differenceOf(present, record, now.get(record.recordId) ?? null)
      records.push(state === 'waiting' ? difference : settled(difference, state))
    }
    await nextTurn()
  }
  return records
}

async function parsed(
  { was, change, fieldsSeq, ...row }: StoredProposedRow,
  history: FieldHistory,
): Promise<ProposedRecord> {
  const object = async (json: string): Promise<JsonObject> =>
    (await parseStoredJsonInTurns(Buffer.from(json))) as JsonObject
  const record = { ...row, was: await object(was), change: change === null ? null : await object(change) }
  return presentProposed(history, { record, fieldsSeq })
}

/** Reads the existing ones of the records, by id, with the fields that are compared. */
async function presentRecords(
  source: ProposalSource,
  proposed: readonly ProposedRecord[],
): Promise<ReadonlyMap<string, PresentRecord>> {
  const keys = await source.records.recordKeys(proposed.map(({ recordId }) => recordId))
  const fields = comparedFields(source.contract, proposed)
  const found = await Promise.all([...keys.keys()].map((id) => source.records.record(id, fields)))
  const present = new Map<string, PresentRecord>()
  for (const [index, [id, key]] of [...keys].entries()) {
    const json = found[index]?.json
    if (json === undefined) continue
    const values = await presentValues(json)
    present.set(id, { key, value: ({ name }) => values.get(name) ?? null })
  }
  return present
}

/** Returns the names of the fields that any of the differences has: not others, which may be long. */
function comparedFields({ fields }: Contract, proposed: readonly ProposedRecord[]): string[] {
  const names = fields.map(({ name }) => name)
  if (proposed.some(({ change }) => change === null)) return names
  return names.filter((name) =>
    proposed.some(({ was, change }) => Object.hasOwn(was, name) || Object.hasOwn(change ?? {}, name)),
  )
}

/** Reads the values of a record; one that is too long to be compared stays JSON text. */
async function presentValues(json: Buffer): Promise<ReadonlyMap<string, JsonValue>> {
  if (json.length < DIFFERENT_BYTES)
    return new Map(Object.entries((await parseStoredJsonInTurns(json)) as JsonObject))
  const values = new Map<string, JsonValue>()
  for (const [name, text] of await rawMembersInTurns(json)) {
    const value = text.length < DIFFERENT_BYTES ? await parseStoredJsonInTurns(text) : new RawJson(text)
    values.set(name, value as JsonValue)
  }
  return values
}

/** A decided proposal has no conflicts; without decisions on parts, all of it has the state of the proposal. */
function settled(record: RecordDifference, state: Decision): RecordDifference {
  return {
    ...record,
    moved: null,
    decision: record.decision ?? state,
    fields: record.fields.map((field) => ({
      ...field,
      moved: false,
      decision: field.decision ?? state,
    })),
  }
}
