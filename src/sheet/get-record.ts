import { SheetError } from '../errors/service-error.ts'
import type { JsonBytes } from '../store/sheet-store.ts'
import { selectFields } from './select-fields.ts'
import type { Sheet } from './sheet.ts'

/** One record, with just these fields or all. Throws SheetError when absent (D12). */
export async function getRecord(
  sheet: Sheet,
  id: string,
  fields: readonly string[] | null,
): Promise<JsonBytes> {
  const { contract, store } = await sheet.current()
  const record = await store.record(id, selectFields(contract, fields))
  if (record === null) throw new SheetError(`no record ${JSON.stringify(id)}`)
  return record
}
