import type { Contract, Field } from '../../contract/contract.ts'
import { fieldsChanged } from '../revision-store.ts'

/**
 * Returns the field of a name that the caller has found in the contract. Throws OutdatedDefinitionError where there is none: it was renamed or
 * removed since.
 */
export function knownField({ fieldByName }: Pick<Contract, 'fieldByName'>, name: string): Field {
  const field = fieldByName.get(name)
  if (field === undefined) throw fieldsChanged()
  return field
}

/** Returns the fields of some names; see {@link knownField}. */
export function knownFields(contract: Pick<Contract, 'fieldByName'>, names: readonly string[]): Field[] {
  return names.map((name) => knownField(contract, name))
}
