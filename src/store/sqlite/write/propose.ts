import type { Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { ProposedRecord } from '../../rules/proposal-difference.ts'
import {
  checkProposedCount,
  checkRoom,
  nothingToPropose,
  type WaitingProposals,
} from '../../rules/proposal-rules.ts'
import type { NewProposal, ProposalId, ProposedChange } from '../../stored-proposal.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { storedRow } from '../read/present-record.ts'
import { idOf } from '../../rules/upsert-validation.ts'
import { writeRecords } from './upsert.ts'
import { fromColumn, isStored } from '../database/values.ts'

/** A proposal as it goes to the writing thread: `change` as JSON text, which crosses several times as fast. */
export type ProposeRequest = Omit<NewProposal, 'change'> & { readonly change: string }

/** Writes down a change that waits for a decision; see {@link ProposalStore.propose}. */
export function propose(change: ChangeSet, { change: text, actor, note }: ProposeRequest): ProposalId {
  const proposed = JSON.parse(text) as ProposedChange
  const kind = 'records' in proposed ? 'upsert' : 'delete'
  checkProposedCount(proposed)
  const records =
    'records' in proposed
      ? changedRecords(change, proposed.records, actor)
      : deletedRecords(change, proposed.ids)
  if (records.length === 0) throw nothingToPropose(kind)
  const rows = records.map(({ was, change: values, ...rest }) => ({
    ...rest,
    was: JSON.stringify(was),
    change: values === null ? null : JSON.stringify(values),
  }))
  const bytes = rows.reduce((sum, row) => sum + sizeOf(row.was) + sizeOf(row.change), 0)
  checkRoom(bytes, waitingProposals(change))
  const id = newProposal(change)
  change.db.run(
    `INSERT INTO "$proposal" (id, kind, state, actor, note, at, records, bytes)
     VALUES (?, ?, 'waiting', ?, ?, ?, ?, ?)`,
    id,
    kind,
    actor,
    note,
    change.at,
    records.length,
    bytes,
  )
  rows.forEach((row, number) => {
    change.db.run(
      `INSERT INTO "$proposal_record" (proposal, number, record_id, record, version, was, change)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      id,
      number,
      row.recordId,
      row.key,
      row.version === null ? null : Number(row.version),
      row.was,
      row.change,
    )
  })
  return String(id)
}

/** Counts a proposal; ids are given out in order and never twice. */
function newProposal({ db }: ChangeSet): number {
  const sheet = db.get(
    `UPDATE "$sheet" SET last_proposal = last_proposal + 1, proposal_changes = proposal_changes + 1
     RETURNING last_proposal AS id`,
  )
  return Number(sheet?.['id'])
}

function sizeOf(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text)
}

function waitingProposals({ db }: ChangeSet): WaitingProposals {
  const row = db.get(
    `SELECT count(*) AS waiting, coalesce(sum(bytes), 0) AS bytes FROM "$proposal" WHERE state = 'waiting'`,
  )
  return { waiting: Number(row?.['waiting']), bytes: Number(row?.['bytes']) }
}

/**
 * What of an upsert would change anything. It is tried first, with the records as they were sent, so that faults are told
 * as those of the write would be; records of one id are put together then, which comes to the same.
 */
function changedRecords(change: ChangeSet, records: readonly JsonObject[], actor: string): ProposedRecord[] {
  change.tryOut(() => writeRecords(change, records, { actor, proposal: null, anyField: true }))
  const byId = new Map<string, JsonObject>()
  for (const record of records) {
    const id = idOf(record)
    if (id !== null) byId.set(id, { ...byId.get(id), ...record })
  }
  return [...byId].flatMap(([id, record]) => changedRecord(change, id, record))
}

function changedRecord(change: ChangeSet, recordId: string, record: JsonObject): ProposedRecord[] {
  const row = storedRow(change.db, recordId)
  const fields = change.contract.fields.filter(
    ({ name, primaryKey }) => !primaryKey && Object.hasOwn(record, name),
  )
  const changed = fields.filter((field) => !isStored(field, record[field.name], row?.[field.name]))
  const proposed = valuesOf(changed, ({ name }) => record[name] ?? null)
  if (row === undefined) return [{ recordId, key: null, version: null, was: {}, change: proposed }]
  if (changed.length === 0) return []
  const was = valuesOf(changed, (field) => fromColumn(field, row[field.name]))
  return [{ recordId, key: Number(row['$seq']), version: String(row['$version']), was, change: proposed }]
}

function deletedRecords(change: ChangeSet, ids: readonly string[]): ProposedRecord[] {
  return [...new Set(ids)].flatMap((recordId) => {
    const row = storedRow(change.db, recordId)
    if (row === undefined) return []
    const fields = change.contract.fields.filter(
      ({ name, primaryKey }) => !primaryKey && (row[name] ?? null) !== null,
    )
    const was = valuesOf(fields, (field) => fromColumn(field, row[field.name]))
    return [{ recordId, key: Number(row['$seq']), version: String(row['$version']), was, change: null }]
  })
}

function valuesOf(fields: readonly Field[], value: (field: Field) => JsonValue): JsonObject {
  return Object.fromEntries(fields.map((field) => [field.name, value(field)]))
}
