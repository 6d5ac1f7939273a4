import type { Contract } from '../../../contract/contract.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import { parseStoredInTurns } from '../../../provenance/log-line.ts'
import { deletionIn, selectDeletion } from '../../rules/logged-deletion.ts'
import type { LoggedDeletion } from '../../rules/store-change.ts'
import type { DeletionRef } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { canBeId } from '../database/values.ts'

const DELETIONS = `SELECT found.record, found.line
  FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS wanted(id, seq, place)
  LEFT JOIN LATERAL (${selectDeletion('wanted.id', 'wanted.seq')}) AS found ON true ORDER BY wanted.place`

/** Reads deletions from the log, in the order of the request; null for each that does not exist. */
export async function readDeletions(
  { db, contract }: { readonly db: Pick<Connection, 'all' | 'query'>; readonly contract: Contract },
  wanted: readonly DeletionRef[],
): Promise<(LoggedDeletion | null)[]> {
  const rows = await db.all(
    DELETIONS,
    wanted.map(({ recordId }) => (canBeId(recordId) ? recordId : '')),
    wanted.map(({ seq }) => seq),
  )
  const history = { contract, changes: await db.query(FIELD_CHANGES) }
  const deletions: (LoggedDeletion | null)[] = []
  for (const [index, { recordId }] of wanted.entries()) {
    const { record, line } = rows[index] ?? {}
    const deletion =
      typeof line === 'string' ? deletionIn(await parseStoredInTurns(line), recordId, history) : null
    const life = typeof record === 'number' ? record : null
    deletions.push(deletion === null ? null : { ...deletion, life })
  }
  return deletions
}
