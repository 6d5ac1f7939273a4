import type { Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { ProposedRecord } from '../../rules/proposal-difference.ts'
import {
  checkProposedCount,
  checkRoom,
  nothingToPropose,
  type WaitingProposals,
} from '../../rules/proposal-rules.ts'
import type { NewProposal, ProposalId } from '../../stored-proposal.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { StoredRecord } from '../changes/stored-record.ts'
import { idOf } from '../../rules/upsert-validation.ts'
import { writeRecords } from './upsert.ts'
import { canBeId, isStored } from '../database/values.ts'

/** Writes down a change that waits for a decision; see {@link ProposalStore.propose}. */
export async function propose(
  change: ChangeSet,
  { change: proposed, actor, note }: NewProposal,
): Promise<ProposalId> {
  const kind = 'records' in proposed ? 'upsert' : 'delete'
  checkProposedCount(proposed)
  const records =
    'records' in proposed
      ? await changedRecords(change, proposed.records, actor)
      : await deletedRecords(change, proposed.ids)
  if (records.length === 0) throw nothingToPropose(kind)
  const rows = records.map(rowOf)
  const bytes = rows.reduce((sum, { was, change: values }) => sum + sizeOf(was) + sizeOf(values), 0)
  const { id, ...waiting } = await numberProposal(change)
  checkRoom(bytes, waiting)
  await insertProposal(change, { id, kind, actor, note, bytes, rows })
  return String(id)
}

interface ProposalRow extends Omit<ProposedRecord, 'was' | 'change'> {
  readonly was: string
  readonly change: string | null
}

function rowOf({ was, change, ...rest }: ProposedRecord): ProposalRow {
  return { ...rest, was: JSON.stringify(was), change: change === null ? null : JSON.stringify(change) }
}

interface ProposalToInsert extends Pick<NewProposal, 'actor' | 'note'> {
  readonly id: number
  readonly kind: 'upsert' | 'delete'
  readonly bytes: number
  readonly rows: readonly ProposalRow[]
}

async function insertProposal(
  { db, at }: ChangeSet,
  { id, kind, actor, note, bytes, rows }: ProposalToInsert,
): Promise<void> {
  await db.run(
    `WITH proposal AS (
       INSERT INTO "$proposal" (id, kind, state, actor, note, at, records, bytes)
       VALUES ($1, $2, 'waiting', $3, $4, $5, $6, $7) RETURNING id
     )
     INSERT INTO "$proposal_record" (proposal, number, record_id, record, version, was, change)
     SELECT proposal.id, place - 1, record_id, record, version, was, change
     FROM proposal, unnest($8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::text[])
       WITH ORDINALITY AS proposed(record_id, record, version, was, change, place)`,
    id,
    kind,
    actor,
    note,
    at,
    rows.length,
    bytes,
    rows.map(({ recordId }) => recordId),
    rows.map(({ key }) => key),
    rows.map(({ version }) => version),
    rows.map(({ was }) => was),
    rows.map(({ change }) => change),
  )
}

/** Counts a proposal, and says how much waited before it; ids are given out in order and never twice. */
async function numberProposal({ db }: ChangeSet): Promise<WaitingProposals & { readonly id: number }> {
  const row = await db.get(
    `UPDATE "$sheet" SET last_proposal = last_proposal + 1, proposal_changes = proposal_changes + 1
     FROM (SELECT count(*) AS waiting, coalesce(sum(bytes), 0) AS bytes FROM "$proposal" WHERE state = 'waiting') AS room
     RETURNING last_proposal AS id, waiting, bytes`,
  )
  return { id: Number(row?.['id']), waiting: Number(row?.['waiting']), bytes: Number(row?.['bytes']) }
}

function sizeOf(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text)
}

/**
 * What of an upsert would change anything. It is tried first, with the records as they were sent, so that faults are told
 * as those of the write would be; records of one id are put together then, which comes to the same.
 */
async function changedRecords(
  change: ChangeSet,
  records: readonly JsonObject[],
  actor: string,
): Promise<ProposedRecord[]> {
  await change.tryOut((trial) => writeRecords(trial, records, { actor, proposal: null, anyField: true }))
  const byId = new Map<string, JsonObject>()
  for (const record of records) {
    const id = idOf(record)
    if (id !== null) byId.set(id, { ...byId.get(id), ...record })
  }
  await change.records.load([...byId.keys()])
  return [...byId].flatMap(([id, record]) => changedRecord(change, id, record))
}

function changedRecord(change: ChangeSet, recordId: string, record: JsonObject): ProposedRecord[] {
  const stored = change.records.get(recordId)
  const fields = change.contract.fields.filter(
    ({ name, primaryKey }) => !primaryKey && Object.hasOwn(record, name),
  )
  const changed = fields.filter((field) => !isStored(record[field.name], stored?.value(field) ?? null))
  const proposed = valuesOf(changed, ({ name }) => record[name] ?? null)
  if (stored === undefined) return [{ recordId, key: null, version: null, was: {}, change: proposed }]
  if (changed.length === 0) return []
  return [{ ...lifeOf(stored), was: valuesOf(changed, (field) => stored.value(field)), change: proposed }]
}

async function deletedRecords(change: ChangeSet, ids: readonly string[]): Promise<ProposedRecord[]> {
  const wanted = [...new Set(ids.filter(canBeId))]
  await change.records.load(wanted)
  return wanted.flatMap((id) => {
    const stored = change.records.get(id)
    if (stored === undefined) return []
    const fields = change.contract.fields.filter((field) => !field.primaryKey && stored.value(field) !== null)
    return [{ ...lifeOf(stored), was: valuesOf(fields, (field) => stored.value(field)), change: null }]
  })
}

function lifeOf({ id, key, version }: StoredRecord): Pick<ProposedRecord, 'recordId' | 'key' | 'version'> {
  return { recordId: id, key, version: String(version) }
}

function valuesOf(fields: readonly Field[], value: (field: Field) => JsonValue): JsonObject {
  return Object.fromEntries(fields.map((field) => [field.name, value(field)]))
}
