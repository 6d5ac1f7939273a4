import type { Sheet } from '../sheet.ts'

/** The fields of the contract, and which of them are derived. Throws ContractError. */
export async function readFieldNames(
  sheet: Sheet,
): Promise<{ readonly fields: readonly string[]; readonly targets: readonly string[] }> {
  const { contract, derivations } = await sheet.deriving()
  return { fields: contract.fields.map(({ name }) => name), targets: [...derivations.byTarget.keys()] }
}
