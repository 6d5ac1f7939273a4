import { describeContract } from '../../contract/contract-view.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { versionOf } from '../definition/change/change-definition.ts'
import type { Sheet } from '../sheet.ts'

/**
 * Returns the validated contract, with the derivation of each derived field (D8), unless `withDerived` is false: then a derivation file may
 * be broken. Throws ContractError.
 */
export async function readContract(sheet: Sheet, withDerived = true): Promise<JsonObject> {
  if (!withDerived) return describeContract((await sheet.current()).contract, new Map())
  const { contract, derivations } = await sheet.defined()
  return describeContract(contract, derivations.derived)
}

/** Returns the version of `contract.yaml`, hex SHA-256 of its bytes. Throws ContractError while it is broken. */
export async function readContractVersion(sheet: Sheet): Promise<string> {
  const { files } = await sheet.definition()
  return versionOf(files.texts().get('contract.yaml') ?? null) ?? ''
}

/** Returns the text of `contract.yaml` that is in force. Throws ContractError while it is broken. */
export async function readContractText(sheet: Sheet): Promise<string> {
  const { contract } = await sheet.current()
  return contract.text
}

/** Returns the names of the contract's fields, and of those that are derived. Throws ContractError. */
export async function readFieldNames(
  sheet: Sheet,
): Promise<{ readonly fields: readonly string[]; readonly targets: readonly string[] }> {
  const { contract, derivations } = await sheet.defined()
  return { fields: contract.fields.map(({ name }) => name), targets: [...derivations.byTarget.keys()] }
}
