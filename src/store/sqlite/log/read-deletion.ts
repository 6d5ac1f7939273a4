import { deletionIn, selectDeletion, type LoggedDeletion } from '../../rules/restore-rules.ts'
import type { DeletionRef } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { parsedLineOf } from './stored-line.ts'
import { canBeId } from '../database/values.ts'

const DELETION = selectDeletion('?1', '?2')

/** Reads a deletion from the log; null when it does not have it. */
export function readDeletion(db: Connection, { recordId, seq }: DeletionRef): LoggedDeletion | null {
  if (!canBeId(recordId)) return null
  const row = db.get(DELETION, recordId, seq)
  const deletion = deletionIn(parsedLineOf(row), recordId)
  if (deletion === null) return null
  const life = row?.['record']
  return { ...deletion, life: typeof life === 'number' ? life : null }
}
