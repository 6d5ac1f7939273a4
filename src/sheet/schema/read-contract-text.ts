import type { Sheet } from '../sheet.ts'

/** The text of `contract.yaml` as the sheet goes by it. Throws ContractError while it is broken. */
export async function readContractText(sheet: Sheet): Promise<string> {
  const { contract } = await sheet.current()
  return contract.text
}
