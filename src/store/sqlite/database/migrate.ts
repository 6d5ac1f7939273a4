import type { Contract } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import type { ErrorType } from '../../../errors/codes.ts'
import { failureGroup } from '../../../errors/failure-group.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import { groupStoredFailures } from '../../rows/failure-groups.ts'
import { beginWhenFree, whenFree, type Connection, type LockWait } from './connection.ts'
import { fieldIndexes, MIGRATIONS, SCHEMA_VERSION } from './schema.ts'

/**
 * Migrates a store of an earlier version to that of this program, one step with its number in each transaction, so that a
 * crash leaves a store of some version. Throws RecordsError for a store of a later version, and LockTimeoutError when
 * another process keeps the store locked.
 */
export async function migrate(db: Connection, wait: LockWait): Promise<void> {
  while ((await whenFree(wait, () => versionOf(db))) < SCHEMA_VERSION) {
    await beginWhenFree(db, 'IMMEDIATE', wait)
    try {
      step(db)
      db.exec('COMMIT')
    } catch (error) {
      if (db.db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
}

/** Makes the next step, unless another process has made it while this one waited for the lock. */
function step(db: Connection): void {
  const next = versionOf(db) + 1
  const sql = MIGRATIONS[next]
  if (sql === undefined) return
  db.exec(sql)
  FILLS[next]?.(db)
  for (const index of fieldIndexes(storedContract(db))) if (index.since === next) db.exec(index.sql)
  db.run('UPDATE "$sheet" SET schema_version = ?', next)
}

/** Steps that fill columns of a version with values that SQL alone cannot compute; a new store has nothing to fill. */
const FILLS: Readonly<Record<number, (db: Connection) => void>> = {
  31: (db) => {
    const group = (error: unknown, errorType: unknown, detail: unknown): number =>
      failureGroup({
        error: String(error),
        errorType: errorType as ErrorType,
        ...(typeof detail === 'string' && { detail }),
      })
    db.db.function('failure_group', { deterministic: true }, group)
    db.exec(groupStoredFailures((detail) => `failure_group(error, error_type, ${detail})`))
  },
}

function storedContract(db: Connection): Contract {
  return parseStoredContract(String(db.get('SELECT contract FROM "$sheet"')?.['contract']))
}

function versionOf(db: Connection): number {
  const version = Number(db.get('SELECT schema_version FROM "$sheet"')?.['schema_version'])
  if (version >= 1 && version <= SCHEMA_VERSION) return version
  throw new RecordsError(
    'sheet.db was made by a later version of Colophon; use that version',
    'store_version',
  )
}
