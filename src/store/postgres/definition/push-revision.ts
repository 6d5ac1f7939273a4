import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { sourcePaths } from '../../sheet-files/import-lines.ts'
import {
  hashFiles,
  type PushOutcome,
  type Revision,
  type RevisionPush,
  type TargetChange,
} from '../../revision-store.ts'
import { editedFiles, recordEdit } from '../../rules/record-change.ts'
import { runAsync } from '../../rules/steps.ts'
import { checkFormulas } from '../formula/check-formulas.ts'
import { applyDefinition } from './apply-definition.ts'
import type { ClientConnection, Connection } from '../database/connection.ts'
import { withAdvice } from '../database/connect-advice.ts'
import { readTime } from '../database/database-clock.ts'
import { Database } from '../database/database.ts'
import { followIndexes } from '../database/follow-indexes.ts'
import { makeSheetTables } from './open-sheet-tables.ts'
import { refusePooling } from '../database/refuse-pooling.ts'
import { newestRevision, readRevision, writeRevision } from './revisions.ts'
import { parseStoreUrl } from '../database/store-url.ts'

/**
 * Stores a sheet's definition as the newest revision at a URL, and applies it; where the schema has no store, creates one
 * from the directory with all its data. All of it happens, or nothing. Throws ContractError where stored records would be
 * lost or violate the contract, or the database refuses a formula, and the errors of opening a store.
 */
export async function pushRevision(url: string, push: RevisionPush): Promise<PushOutcome> {
  const database = new Database(parseStoreUrl(url))
  try {
    await refusePooling(database)
    await checkFormulas(database, push.formulas)
    const pushed = await database.writing(push.lockTimeoutMs, async (db) => {
      const outcome = await carryOut(db, database.location.schema, push)
      if (push.dryRun) throw new OnlyTried(outcome)
      return outcome
    })
    await followIndexes(database)
    return pushed
  } catch (error) {
    if (error instanceof OnlyTried) return error.outcome
    throw withAdvice(error, database.location)
  } finally {
    await database.close()
  }
}

/** Rolls a dry run back. */
class OnlyTried extends Error {
  readonly outcome: PushOutcome

  constructor(outcome: PushOutcome) {
    super('nothing is kept of a dry run')
    this.outcome = outcome
  }
}

async function carryOut(db: ClientConnection, schema: string, push: RevisionPush): Promise<PushOutcome> {
  const { contract, targets, actor, note, files, directory, lockTimeoutMs } = push
  const store = { schema, contract, targets, actor, sources: sourcePaths(directory) }
  const origin = await makeSheetTables(db, store, lockTimeoutMs)
  const sheet = await db.get('SELECT contract, records FROM "$sheet" FOR UPDATE')
  const before = await readRevision(db, await newestRevision(db))
  const targetsBefore = await readTargets(db)
  const edits = origin === 'made' ? [] : await runAsync(editedFiles(db, { contract, targets }))
  const { last } = await applyDefinition(db, { contract, targets }, { schema, lockTimeoutMs })
  if (last.length > 0) await db.exec(last.join(';'))
  const revision: Revision = {
    number: (before?.number ?? 0) + 1,
    at: await readTime(db),
    actor,
    note,
    sha256: hashFiles(files),
    files,
  }
  await runAsync(recordEdit(db, edits, { actor, note, at: revision.at }))
  const isNew = revision.sha256 !== before?.sha256
  if (isNew) await writeRevision(db, revision)
  const fresh = origin === 'made'
  return {
    number: isNew ? revision.number : before.number,
    before,
    created: origin !== 'found',
    contractBefore: fresh ? null : parseStoredContract(String(sheet?.['contract'])),
    records: Number(sheet?.['records']),
    targets: targetChanges(fresh ? new Map() : targetsBefore, await readTargets(db)),
  }
}

interface TargetState {
  readonly derivation: string
  readonly sha256: string
  readonly active: boolean
  readonly stale: number
  readonly missing: number
}

async function readTargets(db: Connection): Promise<ReadonlyMap<string, TargetState>> {
  const rows = await db.all(
    'SELECT field, derivation, sha256, active, stale, missing FROM "$target" ORDER BY id',
  )
  return new Map(
    rows.map((row) => [
      String(row['field']),
      {
        derivation: String(row['derivation']),
        sha256: String(row['sha256']),
        active: row['active'] === true,
        stale: Number(row['stale']),
        missing: Number(row['missing']),
      },
    ]),
  )
}

function targetChanges(
  before: ReadonlyMap<string, TargetState>,
  after: ReadonlyMap<string, TargetState>,
): TargetChange[] {
  return [...after].flatMap(([field, now]) => {
    const was = before.get(field)
    const change = changeOf(was, now)
    if (change === null) return []
    const { derivation } = now
    const stale = now.stale - (was?.stale ?? 0)
    return [{ field, derivation, change, stale, missing: now.missing - (was?.missing ?? 0) }]
  })
}

function changeOf(was: TargetState | undefined, now: TargetState): TargetChange['change'] | null {
  if (was?.active !== true) return now.active ? 'added' : null
  if (!now.active) return 'removed'
  return was.sha256 === now.sha256 && was.derivation === now.derivation ? null : 'changed'
}
