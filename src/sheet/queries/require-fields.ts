import { selectFields } from './select-fields.ts'
import type { Sheet } from '../sheet.ts'

/** These names, if the contract has them all as fields. Throws ValidationError that names those that it has. */
export async function requireFields(sheet: Sheet, names: readonly string[]): Promise<readonly string[]> {
  const { contract } = await sheet.current()
  return selectFields(contract, names)
}
