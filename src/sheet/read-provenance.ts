import type { JsonValue } from '../contract/json.ts'
import { showValue } from '../contract/show-value.ts'
import { SheetError } from '../errors/service-error.ts'
import { unknownFields } from './select-fields.ts'
import type { Sheet } from './sheet.ts'

export interface ProvenanceQuery {
  readonly recordId: string
  readonly field: string
  readonly history: boolean
}

/**
 * Where the value of a cell came from: its latest provenance entry or null, with `history` all of them, oldest first
 * (D35). Throws ValidationError for an unknown field, SheetError for a record that never existed.
 */
export async function readProvenance(
  sheet: Sheet,
  { recordId, field, history }: ProvenanceQuery,
): Promise<JsonValue> {
  const { contract, store } = await sheet.current()
  if (!contract.fieldByName.has(field)) throw unknownFields(contract, [field])
  const provenance = await store.provenance(recordId, field, history)
  if (!provenance.known) throw new SheetError(`no record ${showValue(recordId)} has ever existed`)
  return history ? provenance.entries : (provenance.entries[0] ?? null)
}
