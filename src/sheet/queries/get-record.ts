import { showValue } from '../../contract/json/show-value.ts'
import { SheetError } from '../../errors/service-error.ts'
import type { JsonBytes, VersionedRecord } from '../../store/sheet-store.ts'
import { responseStamp } from './response-stamp.ts'
import { resolveAsOf } from './as-of.ts'
import { selectFields, selectPastFields } from './select-fields.ts'
import type { Sheet } from '../sheet.ts'

/** A record, its version, and the stamp of what else its response depends on; see {@link responseStamp}. */
export interface StampedRecord extends VersionedRecord {
  readonly stamp: string
}

/** Reads a record with these fields, or all, and its version. Throws SheetError when it does not exist (D12). */
export async function getRecord(
  sheet: Sheet,
  id: string,
  fields: readonly string[] | null,
): Promise<StampedRecord> {
  const current = await sheet.current()
  const { contract, store } = current
  const record = await store.record(id, selectFields(contract, fields))
  if (record === null) throw new SheetError(`no record ${showValue(id)}`, 'unknown_record')
  return { json: record.json, version: record.version, stamp: responseStamp(current) }
}

/**
 * Reads a record as it was, with these fields or all; such a record has no version. Throws SheetError when it did not
 * exist then, and what {@link resolveAsOf} throws.
 */
export async function getRecordAsOf(
  sheet: Sheet,
  id: string,
  { fields, asOf }: { readonly fields: readonly string[] | null; readonly asOf: string },
): Promise<JsonBytes> {
  const current = await sheet.current()
  const { store } = current
  const selected = await selectPastFields(current, fields)
  const seq = await resolveAsOf(store, asOf)
  const record = await store.recordAsOf(id, selected, seq)
  if (record === null) throw new SheetError(`no record ${showValue(id)} after entry ${seq}`, 'unknown_record')
  return record
}
