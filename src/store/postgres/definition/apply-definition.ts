import { formatLine, type FieldsLine, type Unnumbered } from '../../../provenance/log-line.ts'
import { NO_CHANGES, type FieldsEffect } from '../../field-changes.ts'
import { loggedChange } from '../../fields/stored-changes.ts'
import type { StoreDefinition } from '../../sheet-store.ts'
import { changeTables } from './change-tables.ts'
import type { Connection } from '../database/connection.ts'
import { readEntryTime } from '../database/database-clock.ts'
import { applyContract } from './apply-contract.ts'
import { grantReaderAccess } from '../sql/reader-role.ts'
import { applyTargets, loadTargets } from './targets.ts'

export interface ApplyOptions {
  readonly schema: string
  /** Milliseconds to wait for readers of the tables, should these have to change. */
  readonly lockTimeoutMs: number
}

/** The effect of a definition, and statements that must be carried out last. */
export interface AppliedDefinition {
  readonly effect: FieldsEffect
  readonly last: readonly string[]
}

/**
 * Adapts the tables to a contract and its derived fields (D9), in a transaction that has locked the row of `$sheet`, and
 * logs changes of fields. Throws ContractError where stored records would be lost or violate the contract, and
 * LockTimeoutError where a reader takes too long; the transaction must then be rolled back.
 */
export async function applyDefinition(
  db: Connection,
  { contract, targets, changes }: StoreDefinition,
  { schema, lockTimeoutMs }: ApplyOptions,
): Promise<AppliedDefinition> {
  const known = targets ?? (await loadTargets(db))
  const derived = new Set(known.map(({ field }) => field))
  const seq = await nextSeq(db)
  const applied = await applyContract(db, { contract, derived, changes, seq })
  const { effect, column, statements, change } = applied
  const targetsChanged = targets !== null && (await applyTargets(db, targets, column))
  if (change !== null) await logFields(db, loggedChange(change, changes ?? NO_CHANGES, effect.fields), seq)
  if (applied.isNew) {
    // Last, since nobody can read from here on.
    await changeTables(db, statements, lockTimeoutMs)
    await grantReaderAccess(db, schema)
  }
  // Tells other processes that what they have cached is outdated.
  const last = [
    ...(applied.isNew || targetsChanged ? ['UPDATE "$sheet" SET definition = definition + 1'] : []),
    ...(change === null ? [] : [`UPDATE "$sheet" SET last_seq = ${seq}`]),
  ]
  return { effect, last }
}

/** Returns the effect that {@link applyDefinition} would have on fields, also where it would be refused. */
export async function tryDefinition(
  db: Connection,
  { contract, targets, changes }: StoreDefinition,
): Promise<FieldsEffect> {
  const known = targets ?? (await loadTargets(db))
  const derived = new Set(known.map(({ field }) => field))
  const seq = await nextSeq(db)
  return (await applyContract(db, { contract, derived, changes, seq, dryRun: true })).effect
}

async function nextSeq(db: Connection): Promise<number> {
  return Number((await db.get('SELECT last_seq FROM "$sheet"'))?.['last_seq']) + 1
}

async function logFields(db: Connection, line: Unnumbered<FieldsLine>, seq: number): Promise<void> {
  const text = formatLine({ seq, at: await readEntryTime(db), ...line })
  await db.run('INSERT INTO "$provenance" (seq, line) VALUES ($1, $2)', seq, text)
}
