import type { Contract, Field } from '../../contract/contract.ts'
import { jsonEqual, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { RecordKey } from '../sheet-store.ts'
import type { FieldDifference, RecordDifference, RecordMove } from '../stored-proposal.ts'
import type { Connection, StoredRow } from './connection.ts'
import { canBeId, fromColumn } from './values.ts'

/** What a proposal does to one record, as the store keeps it. */
export interface ProposedRecord {
  readonly recordId: string
  /** The key and the version that the record had when it was proposed; null when it did not exist. */
  readonly key: RecordKey | null
  readonly version: string | null
  /** The values of the touched fields then; of a deletion those of all that had one. */
  readonly was: JsonObject
  /** The values that are proposed; null for a deletion. */
  readonly change: JsonObject | null
}

/** Against what a proposal is compared. */
export interface Present {
  readonly db: Connection
  readonly contract: Contract
  isDerived(field: string): boolean
}

/** What a proposal does to a record as it is now, and whether that has moved. */
export function differenceOf(present: Present, record: ProposedRecord): RecordDifference {
  const { recordId, key, version, change } = record
  const row = storedRow(present.db, recordId)
  const fields = touchedFields(present, record, row).map((name) =>
    fieldDifference(present, { record, row, name }),
  )
  return {
    recordId,
    change: change === null ? 'delete' : key === null ? 'create' : 'update',
    version,
    moved: moveOf(key, row, fields),
    fields,
  }
}

/** The stored record with an id. */
export function storedRow(db: Connection, id: string): StoredRow | undefined {
  return canBeId(id) ? db.get('SELECT * FROM "$data" WHERE id = ?', id) : undefined
}

function moveOf(
  key: RecordKey | null,
  row: StoredRow | undefined,
  fields: readonly FieldDifference[],
): RecordMove | null {
  if (key === null) return row === undefined ? null : 'created'
  if (row === undefined) return 'deleted'
  if (Number(row['$seq']) !== key) return 'recreated'
  return fields.some(({ moved }) => moved) ? 'changed' : null
}

/** In the contract's order; at the end what the contract has no more, which it can drop while there are no records. */
function touchedFields(
  { contract }: Present,
  { was, change }: ProposedRecord,
  row: StoredRow | undefined,
): string[] {
  const names = new Set(Object.keys({ ...was, ...change }))
  if (change === null) for (const field of contract.fields) if (hasValue(row, field)) names.add(field.name)
  const known = contract.fields.filter(({ name, primaryKey }) => names.delete(name) && !primaryKey)
  return [...known.map(({ name }) => name), ...names]
}

function hasValue(row: StoredRow | undefined, { name }: Field): boolean {
  return (row?.[name] ?? null) !== null
}

interface TouchedField {
  readonly record: ProposedRecord
  readonly row: StoredRow | undefined
  readonly name: string
}

/** A record is deleted with what is computed for it, so that a run that computes it anew is no reason to ask again. */
function fieldDifference(present: Present, { record, row, name }: TouchedField): FieldDifference {
  const { was: values, change } = record
  const field = present.contract.fieldByName.get(name)
  const was = own(values, name)
  const now = field === undefined ? null : fromColumn(field, row?.[name])
  const counts = change !== null || !present.isDerived(name)
  return {
    field: name,
    was,
    now,
    proposed: change === null ? null : own(change, name),
    moved: counts && !jsonEqual(was, now),
  }
}

/** A member of values by field, where `constructor` and the like are field names as any. */
function own(values: JsonObject, name: string): JsonValue {
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null
}
