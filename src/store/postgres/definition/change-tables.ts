import { setTimeout as sleep } from 'node:timers/promises'
import { LockTimeoutError } from '../../../errors/service-error.ts'
import type { Connection } from '../database/connection.ts'
import { sqlState } from '../database/errors.ts'

/** Milliseconds that one attempt waits for readers: all later readers wait behind it. */
const GRACE_MS = 100

/** Milliseconds between attempts, in which readers proceed. */
const PAUSE_MS = 400

const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Carries out statements that lock the table of records exclusively, in short attempts, between which readers proceed. Call
 * it as late as possible in a transaction: from then on nobody reads until it ends. Throws LockTimeoutError, without any
 * change, when a reader takes longer than `lockTimeoutMs`.
 */
export async function changeTables(
  db: Connection,
  statements: readonly string[],
  lockTimeoutMs: number,
): Promise<void> {
  if (statements.length === 0) return
  const until = performance.now() + lockTimeoutMs
  for (;;) {
    try {
      await db.exec(
        [
          'SAVEPOINT tables',
          `SET LOCAL lock_timeout = ${GRACE_MS}`,
          'LOCK TABLE "$data" IN ACCESS EXCLUSIVE MODE',
          ...statements,
          `SET LOCAL lock_timeout = ${Math.max(1, Math.ceil(lockTimeoutMs))}`,
          'RELEASE SAVEPOINT tables',
        ].join(';'),
      )
      return
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
    }
    await db.exec('ROLLBACK TO SAVEPOINT tables')
    if (performance.now() + PAUSE_MS > until) throw inUse(lockTimeoutMs)
    await sleep(PAUSE_MS)
  }
}

function inUse(lockTimeoutMs: number): LockTimeoutError {
  return new LockTimeoutError(
    `the tables of the sheet could not be changed, since somebody has been reading them for longer than ${lockTimeoutMs / 1000} s: ` +
      'a long query, an export or a pull, or an index that is being built; try again when that has finished, or give it longer (--lock-timeout)',
  )
}
