import type { StoreDefinition } from '../../sheet-store.ts'
import { changeTables } from './change-tables.ts'
import type { Connection } from '../database/connection.ts'
import { applyContract } from './apply-contract.ts'
import { grantReaderAccess } from '../sql/reader-role.ts'
import { applyTargets, loadTargets } from './targets.ts'

export interface ApplyOptions {
  readonly schema: string
  /** Milliseconds to wait for readers of the tables, should these have to change. */
  readonly lockTimeoutMs: number
}

/**
 * Adapts the tables to a contract and its derived fields (D9), in a transaction that has locked the row of `$sheet`.
 * Returns statements that must be carried out last. Throws ContractError where stored records would be lost or violate the
 * contract, and LockTimeoutError where a reader takes too long; the transaction must then be rolled back.
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
    await grantReaderAccess(db, schema)
  }
  // Tells other processes that what they have cached is outdated.
  return changes !== null || targetsChanged ? ['UPDATE "$sheet" SET definition = definition + 1'] : []
}
