import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import {
  insertProposal,
  NEXT_PROPOSAL,
  WAITING_PROPOSALS,
  type ProposedRow,
} from '../rows/proposal-queries.ts'
import type { NewProposal, ProposalId, ProposedDefinition, ProposedRecord } from '../stored-proposal.ts'
import { checkProposedCount, checkRoom, nothingToPropose } from './proposal-rules.ts'
import { load, type Steps } from './steps.ts'
import { isStored, type StoreChange, type StoredRecord } from './store-change.ts'
import { writeRecords } from './upsert.ts'
import { idOf } from './upsert-validation.ts'

/** Stores a change that waits for a decision, by default since now; see {@link ProposalStore.propose}. */
export function* propose(
  change: StoreChange,
  { change: proposed, actor, note, at = change.at }: NewProposal & { readonly at?: string | undefined },
): Steps<ProposalId> {
  const { db } = change
  if ('definition' in proposed) return yield* proposeDefinition(change, proposed.definition, { actor, note })
  const kind = 'records' in proposed ? 'upsert' : 'delete'
  checkProposedCount(proposed)
  const changes =
    'records' in proposed
      ? yield* changedRecords(change, proposed.records, actor)
      : yield* deletedRecords(change, proposed.ids)
  if (changes.length === 0) throw nothingToPropose(kind)
  const records = changes.map(rowOf)
  const bytes = records.reduce((sum, row) => sum + sizeOf(row.was) + sizeOf(row.change), 0)
  checkRoom(bytes, yield* load(db.query(WAITING_PROPOSALS)))
  const id = yield* load(db.query(NEXT_PROPOSAL))
  yield* load(
    db.change(
      insertProposal({ id, kind, actor, note, at, bytes, records: records.length, definition: null }),
    ),
  )
  yield* load(change.insertProposed(id, records))
  return String(id)
}

/** Stores a change of the definition, which the caller has tried. */
function* proposeDefinition(
  { db, at }: StoreChange,
  proposed: ProposedDefinition,
  { actor, note }: Omit<NewProposal, 'change'>,
): Steps<ProposalId> {
  if (proposed.files.length === 0) throw nothingToPropose('definition')
  const definition = JSON.stringify(proposed)
  const bytes = sizeOf(definition)
  checkRoom(bytes, yield* load(db.query(WAITING_PROPOSALS)))
  const id = yield* load(db.query(NEXT_PROPOSAL))
  const row = { id, kind: 'definition', actor, note, at, bytes, records: 0, definition } as const
  yield* load(db.change(insertProposal(row)))
  return String(id)
}

function rowOf({ was, change, decided: _, ...rest }: ProposedRecord): ProposedRow {
  return { ...rest, was: JSON.stringify(was), change: change === null ? null : JSON.stringify(change) }
}

function sizeOf(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text)
}

/**
 * Returns the records that an upsert would change. It is tried first, with the records as they were sent, so that its
 * errors are those of the write; then records of one id are merged, which has the same result.
 */
function* changedRecords(
  change: StoreChange,
  records: readonly JsonObject[],
  actor: string,
): Steps<ProposedRecord[]> {
  yield* load(
    change.tryOut((trial) => writeRecords(trial, records, { actor, proposal: null, anyField: true })),
  )
  const byId = new Map<string, JsonObject>()
  for (const record of records) {
    const id = idOf(record)
    if (id !== null) byId.set(id, { ...byId.get(id), ...record })
  }
  yield* load(change.load([...byId.keys()]))
  return [...byId].flatMap(([id, record]) => changedRecord(change, id, record))
}

function changedRecord(
  { contract, records }: StoreChange,
  recordId: string,
  record: JsonObject,
): ProposedRecord[] {
  const stored = records.get(recordId)
  const fields = contract.fields.filter(({ name, primaryKey }) => !primaryKey && Object.hasOwn(record, name))
  const changed = fields.filter((field) => !isStored(record[field.name], stored?.value(field) ?? null))
  const proposed = valuesOf(changed, ({ name }) => record[name] ?? null)
  if (stored === undefined)
    return [{ recordId, key: null, version: null, was: {}, change: proposed, decided: {} }]
  if (changed.length === 0) return []
  const was = valuesOf(changed, (field) => stored.value(field))
  return [{ ...identityOf(stored), was, change: proposed, decided: {} }]
}

function* deletedRecords(change: StoreChange, ids: readonly string[]): Steps<ProposedRecord[]> {
  yield* load(change.load(ids))
  return [...new Set(ids)].flatMap((id) => {
    const stored = change.records.get(id)
    if (stored === undefined) return []
    const fields = change.contract.fields.filter((field) => !field.primaryKey && stored.value(field) !== null)
    const was = valuesOf(fields, (field) => stored.value(field))
    return [{ ...identityOf(stored), was, change: null, decided: {} }]
  })
}

function identityOf({
  id,
  key,
  version,
}: StoredRecord): Pick<ProposedRecord, 'recordId' | 'key' | 'version'> {
  return { recordId: id, key, version: String(version) }
}

function valuesOf(fields: readonly Field[], value: (field: Field) => JsonValue): JsonObject {
  return Object.fromEntries(fields.map((field) => [field.name, value(field)]))
}
