import type { Contract } from '../../../contract/contract.ts'
import type { FieldHistory } from '../../fields/present-values.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import { deletionIn, selectDeletion } from '../../rules/logged-deletion.ts'
import type { LoggedDeletion } from '../../rules/store-change.ts'
import { parseStoredInTurns } from '../../../provenance/log-line.ts'
import type { Deletion, DeletionRef } from '../../sheet-store.ts'
import { textOrNull } from '../../rows/stored-rows.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import type { LongReads } from './reading-client.ts'
import { parsedLineOf, SHORT_LINE } from './stored-line.ts'
import { canBeId } from '../database/values.ts'

const DELETION = selectDeletion('?1', '?2')
const DELETION_UNLESS_LONG = `SELECT seq, record, ${SHORT_LINE} AS line FROM "$provenance" WHERE seq = (SELECT seq FROM (${DELETION}))`

/** Reads a deletion from the log; null when it does not exist. */
export function readDeletion(
  { db, contract }: { readonly db: Connection; readonly contract: Contract },
  { recordId, seq }: DeletionRef,
): LoggedDeletion | null {
  if (!canBeId(recordId)) return null
  const row = db.get(DELETION, recordId, seq)
  return loggedDeletion(row, deletionIn(parsedLineOf(row), recordId, historyOf(db, contract)))
}

/** Reads a deletion on the main thread: the reading thread reads a long line, which is parsed in parts. */
export async function readDeletionInTurns(
  { db, long, contract }: { readonly db: Connection; readonly long: LongReads; readonly contract: Contract },
  { recordId, seq }: DeletionRef,
): Promise<LoggedDeletion | null> {
  const row = canBeId(recordId) ? db.get(DELETION_UNLESS_LONG, recordId, seq) : undefined
  if (row === undefined) return null
  const line =
    textOrNull(row['line']) ?? (await long.call('line', { seq: Number(row['seq']), containing: null }))
  return loggedDeletion(
    row,
    deletionIn(line === null ? null : await parseStoredInTurns(line), recordId, historyOf(db, contract)),
  )
}

function loggedDeletion(row: StoredRow | undefined, deletion: Deletion | null): LoggedDeletion | null {
  const life = row?.['record']
  return deletion === null ? null : { ...deletion, life: typeof life === 'number' ? life : null }
}

function historyOf(db: Connection, contract: Contract): FieldHistory {
  return { contract, changes: db.query(FIELD_CHANGES) }
}
