import { isJsonObject, type JsonObject } from '../../contract/json/json.ts'
import { presentValues, type FieldHistory } from '../fields/present-values.ts'
import type { Deletion } from '../sheet-store.ts'

/** Returns the deletion of a line of the log, with present names and types; null when it is no deletion of this record. */
export function deletionIn(
  line: JsonObject | null,
  recordId: string,
  history: FieldHistory,
): Deletion | null {
  if (line?.['source'] !== 'delete' || line['record_id'] !== recordId) return null
  const { at, actor, previous, kept } = line
  if (!isJsonObject(previous) || typeof at !== 'string' || typeof actor !== 'string') return null
  const seq = Number(line['seq'])
  return {
    recordId,
    seq,
    at,
    actor,
    values: { ...presentValues(history, previous, { seq, kept }), id: recordId },
  }
}

/** Returns the seq of the deletion that the first line of a record undid; null when the record was not restored. */
export function restoredFrom(first: JsonObject | null): number | null {
  // The line of a reverted cell is never the first of its record.
  const { source, reverts } = first ?? {}
  return source === 'revert' && typeof reverts === 'number' ? reverts : null
}

/**
 * Returns SQL that selects the line of a deletion, and the life that it ended; `seq` is an expression that is null for the
 * latest.
 */
export function selectDeletion(id: string, seq: string): string {
  return `SELECT seq, record, line FROM "$provenance" WHERE seq = coalesce(${seq},
    (SELECT max(seq) FROM "$provenance" WHERE record = (SELECT max(record) FROM "$deleted" WHERE record_id = ${id})),
    (SELECT max(seq) FROM "$provenance" WHERE earlier_id = ${id}))`
}
