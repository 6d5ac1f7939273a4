import type { StoreDefinition } from '../../sheet-store.ts'
import { changeTables } from './change-tables.ts'
import type { Connection } from '../database/connection.ts'
import { applyContract } from './apply-contract.ts'
import { giveReaderAccess } from '../sql/reader-role.ts'
import { applyTargets, loadTargets } from './targets.ts'

/** Where and how a definition is applied. */
export interface ApplyOptions {
  readonly schema: string
  /** How long to wait for those who read the tables, should these have to change. */
  readonly lockTimeoutMs: number
}

/**
 * Makes the tables follow a contract and its derived fields (D9). To be called in a transaction that has the row of
 * `$sheet`; what it answers is to be carried out last of all. Throws ContractError where stored records would be lost or
 * break the contract, and LockTimeoutError where somebody reads for too long; nothing is to be kept of it then.
 */
export async function applyDefinition(
  db: Connection,
  { contract, targets }: StoreDefinition,
  { schema, lockTimeoutMs }: ApplyOptions,
): Promise<readonly string[]> {
  const known = targets ?? (await loadTargets(db))
  const derived = new Set(known.map(({ field }) => field))
  const changes = await applyContract(db, contract, derived)
  const newColumns = changes?.newColumns ?? new Set()
  const targetsChanged = targets !== null && (await applyTargets(db, targets, newColumns))
  if (changes !== null) {
    // Last, since nobody can read from here on.
    await changeTables(db, changes.statements, lockTimeoutMs)
    await giveReaderAccess(db, schema)
  }
  // Other processes see by it that what they know is of before.
  return changes !== null || targetsChanged ? ['UPDATE "$sheet" SET definition = definition + 1'] : []
}
