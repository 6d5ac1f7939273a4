import type { Contract, Field } from '../../contract/contract.ts'
import { jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import type { RecordKey } from '../cell-work.ts'
import { decisionOn, decisionOnPart, waitingParts } from './proposal-rules.ts'
import type { FieldDifference, ProposedRecord, RecordDifference, RecordMove } from '../stored-proposal.ts'

/** A record as it is now. */
export interface PresentRecord {
  readonly key: RecordKey
  value(field: Field): JsonValue
}

/** The state that a proposal is compared with. */
export interface Present {
  readonly contract: Contract
  isDerived(field: string): boolean
}

/**
 * Returns the change that a proposal makes to a present record, null when it does not exist, and whether that has changed
 * since.
 */
export function differenceOf(
  present: Present,
  record: ProposedRecord,
  now: PresentRecord | null,
): RecordDifference {
  const { recordId, key, version, change } = record
  const waiting = waitingParts(record)
  const fields = touchedFields(present, record, now).map((name) =>
    fieldDifference(present, { record, now, name }),
  )
  return {
    recordId,
    change: change === null ? 'delete' : key === null ? 'create' : 'update',
    version,
    moved: waiting.length === 0 ? null : moveOf(key, now, fields),
    decision: waiting.length === 0 ? decisionOn(record) : null,
    fields,
  }
}

function moveOf(
  key: RecordKey | null,
  now: PresentRecord | null,
  fields: readonly FieldDifference[],
): RecordMove | null {
  if (key === null) return now === null ? null : 'created'
  if (now === null) return 'deleted'
  if (now.key !== key) return 'recreated'
  return fields.some(({ moved }) => moved) ? 'changed' : null
}

/**
 * Returns the fields of a proposal in the contract's order, at the end those that the contract no longer has, which it can
 * drop while there are no records.
 */
function touchedFields(
  { contract }: Present,
  { was, change }: ProposedRecord,
  now: PresentRecord | null,
): string[] {
  const names = new Set(Object.keys({ ...was, ...change }))
  if (change === null && now !== null) {
    for (const field of contract.fields) if (now.value(field) !== null) names.add(field.name)
  }
  const known = contract.fields.filter(({ name, primaryKey }) => names.delete(name) && !primaryKey)
  return [...known.map(({ name }) => name), ...names]
}

interface TouchedField {
  readonly record: ProposedRecord
  readonly now: PresentRecord | null
  readonly name: string
}

/** Compares one field. A new computed value of a record to be deleted is not a change: it would be deleted as well. */
function fieldDifference(present: Present, { record, now, name }: TouchedField): FieldDifference {
  const { was: values, change } = record
  const decision = decisionOnPart(record, name)
  const field = present.contract.fieldByName.get(name)
  const was = own(values, name)
  const current = field === undefined || now === null ? null : now.value(field)
  const counts = decision === null && (change !== null || !present.isDerived(name))
  return {
    field: name,
    was,
    now: current,
    proposed: change === null ? null : own(change, name),
    moved: counts && !jsonEqual(was, current),
    decision,
  }
}

/** Returns a member of values by field, where `constructor` and the like are field names as any. */
function own(values: JsonObject, name: string): JsonValue {
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null
}
