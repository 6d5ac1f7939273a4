import type { StoreDefinition } from '../sheet-store.ts'
import type { Connection } from './connection.ts'
import { applyContract } from './define.ts'
import { giveReaderAccess } from './sql/reader-role.ts'
import { applyTargets, loadTargets } from './targets.ts'

/**
 * Makes the tables follow a contract and its derived fields (D9). To be called in a transaction that has the row of
 * `$sheet`; what it answers is to be carried out last of all. Throws ContractError, and has changed nothing, where stored
 * records would be lost or break the contract.
 */
export async function applyDefinition(
  db: Connection,
  schema: string,
  { contract, targets }: StoreDefinition,
): Promise<readonly string[]> {
  const known = targets ?? (await loadTargets(db))
  const derived = new Set(known.map(({ field }) => field))
  const contractChanged = await applyContract(db, contract, derived)
  const targetsChanged = targets !== null && (await applyTargets(db, targets))
  if (contractChanged) await giveReaderAccess(db, schema)
  // Other processes see by it that what they know is of before.
  return contractChanged || targetsChanged ? ['UPDATE "$sheet" SET definition = definition + 1'] : []
}
