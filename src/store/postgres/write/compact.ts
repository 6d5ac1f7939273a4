import type { Database } from '../database/database.ts'
import { isConnectionFault, sqlState } from '../database/errors.ts'

/** The tables from which values are erased. */
const TABLES = [
  '$data',
  '$provenance',
  '$cache',
  '$response',
  '$recorded',
  '$failure',
  '$run_failure',
  '$run_body',
  '$target',
  '$proposal_record',
  '$review',
  '$frame',
]

/** The time for which others may use a table before it is left as it is. */
const WAIT = '10s'

/**
 * Writes tables anew, so that no page of them has values that were deleted; returns false where that was not possible, as on a full disk
 * or while others read for long. Reads and writes of a table wait meanwhile.
 */
export async function compact(database: Database): Promise<boolean> {
  const client = await database.dedicated()
  try {
    await client.query(`SET lock_timeout = '${WAIT}'; SET statement_timeout = 0`)
    for (const table of TABLES) await client.query(`VACUUM (FULL) "${table}"`)
    return true
  } catch (error) {
    if (sqlState(error) === undefined && !isConnectionFault(error)) throw error
    return false
  } finally {
    await client.end()
  }
}
