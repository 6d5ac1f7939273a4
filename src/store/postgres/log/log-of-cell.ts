import type { Field } from '../../../contract/contract.ts'
import { CellLog } from '../../cell-log.ts'
import type { LogQueries } from './log-queries.ts'
import { canBeId } from '../database/values.ts'

/** Returns the log of a cell; null for a record that never existed. */
export async function logOfCell(log: LogQueries, recordId: string, field: Field): Promise<CellLog | null> {
  const lives = canBeId(recordId) ? await log.lives(recordId) : []
  return lives.length === 0 ? null : new CellLog(log, { recordId, field, lives })
}
