import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup } from 'node:sqlite'
import type { Contract } from '../../../contract/contract.ts'
import { checkLog } from '../../../provenance/log-mirror.ts'
import type { TargetDefinition } from '../../sheet-store.ts'
import { checkSchema } from '../database/check-schema.ts'
import {
  asRecordsError,
  Connection,
  whenFree,
  type LockWait,
  type StoredRow,
} from '../database/connection.ts'
import { createStore, storePaths } from './create-store.ts'
import { applyContract, applyTargets } from './apply-contract.ts'
import { lastSeq } from '../database/last-entry.ts'
import { logSource } from '../log/log-source.ts'
import { openDatabase } from '../database/open-database.ts'
import { SCHEMA_VERSION } from '../database/schema.ts'

export interface TrialOptions {
  readonly contract: Contract
  readonly targets: readonly TargetDefinition[]
  readonly lockTimeoutMs: number
}

/**
 * Checks whether the store in a directory can be opened with a definition, or created from `records.jsonl` where there is
 * none. Changes nothing in the directory: the changes of opening are made on a copy in the temporary directory. Throws the
 * ContractError or RecordsError that opening would throw, and LockTimeoutError when another process keeps the store locked.
 */
export async function tryStore(directory: string, options: TrialOptions): Promise<void> {
  const paths = storePaths(directory)
  const folder = mkdtempSync(join(tmpdir(), 'colophon-trial-'))
  const copy = join(folder, 'sheet.db')
  try {
    if (existsSync(paths.database)) await tryStored(paths, { ...options, copy })
    else createStore({ ...paths, database: copy }, { ...options, actor: 'system' })
  } catch (error) {
    throw asRecordsError(error)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function tryStored(
  { database, log }: { readonly database: string; readonly log: string },
  { contract, targets, lockTimeoutMs, copy }: TrialOptions & { readonly copy: string },
): Promise<void> {
  const wait: LockWait = { deadline: performance.now() + lockTimeoutMs, what: 'the store' }
  await whenFree(wait, () => checkSchema(database))
  const stored = await whenFree(wait, () => Connection.forInspection(database))
  let isCurrent: boolean
  try {
    // In one state of the store and its log, to which a server may be writing.
    stored.exec('BEGIN')
    const sheet = stored.get('SELECT * FROM "$sheet"') ?? {}
    isCurrent = sheet['schema_version'] === SCHEMA_VERSION
    if (isCurrent) checkLogOf(stored, sheet, log)
    stored.exec('COMMIT')
    if (isCurrent && sheet['contract'] === contract.text) return
    await backup(stored.db, copy)
  } finally {
    stored.close()
  }
  const { db, sheet } = await openDatabase(copy, wait)
  try {
    if (!isCurrent) checkLogOf(db, sheet, log)
    db.exec('BEGIN')
    applyContract(db, { contract, derived: new Set(targets.map(({ field }) => field)), seq: lastSeq(db) + 1 })
    applyTargets(db, targets)
  } finally {
    db.close()
  }
}

function checkLogOf(db: Connection, sheet: StoredRow, log: string): void {
  checkLog(log, logSource(db), { seq: Number(sheet['mirror_seq']), offset: Number(sheet['mirror_offset']) })
}
