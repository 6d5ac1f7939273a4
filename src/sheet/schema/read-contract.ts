import { describeContract } from '../../contract/contract-view.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import type { Sheet } from '../sheet.ts'

/** The validated contract, with what derives each derived field (D8). Throws ContractError. */
export async function readContract(sheet: Sheet): Promise<JsonObject> {
  const { contract, derivations } = await sheet.deriving()
  return describeContract(contract, derivations.derived)
}
