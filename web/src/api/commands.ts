import type { MaterializeBody, RunPlanAnswer } from '../../../src/wire/materialize.ts'
import type { QueryAnswer } from '../../../src/wire/query.ts'
import type { DeleteRecordsAnswer, UpsertRecordsAnswer } from '../../../src/wire/records.ts'
import type { RevertAnswer } from '../../../src/wire/revert.ts'
import type { RunAnswer } from '../../../src/wire/runs.ts'
import { ask, pathWith, write } from './http.ts'

/** Everything the page writes or starts. All of it throws ApiError. */

export type RecordPatch = { readonly id: string } & Readonly<Record<string, unknown>>

/** With a tag, the one record is written only if that is still its version. */
export function upsertRecords(
  records: readonly RecordPatch[],
  actor: string,
  tag: string | null = null,
): Promise<UpsertRecordsAnswer> {
  return write('POST', '/api/records', {
    body: { records, actor },
    headers: tag === null ? {} : { 'if-match': tag },
  })
}

export function deleteRecords(ids: readonly string[], actor: string): Promise<DeleteRecordsAnswer> {
  const path = pathWith('/api/records', { ids: ids.join(',') })
  return write('DELETE', path, { headers: { 'x-svc-actor': asHeader(actor) } })
}

/** Which cells a run is about. */
export type RunOrder = Omit<MaterializeBody, 'actor' | 'dry_run'>

/** What a run would do and cost. */
export function planRun(order: RunOrder, actor: string): Promise<RunPlanAnswer> {
  return write('POST', '/api/materialize', { body: { ...order, actor, dry_run: true } })
}

/** Starts a run; it goes on after this has answered. */
export function startRun(order: RunOrder, actor: string): Promise<RunAnswer> {
  return write('POST', '/api/materialize', {
    body: { ...order, actor },
    headers: { prefer: 'respond-async' },
  })
}

export function cancelRun(id: string, actor: string): Promise<RunAnswer> {
  return write('POST', `/api/runs/${id}/cancel`, { body: { actor } })
}

export function revertRun(id: string, actor: string): Promise<RevertAnswer> {
  return write('POST', '/api/revert', { body: { run_id: id, actor } })
}

/** Undoes an entry of a cell. */
export function revertEntry(
  cell: { readonly recordId: string; readonly field: string },
  seq: number,
  actor: string,
): Promise<RevertAnswer> {
  return write('POST', '/api/revert', { body: { record_id: cell.recordId, field: cell.field, seq, actor } })
}

export function runSql(sql: string, params: readonly unknown[], signal: AbortSignal): Promise<QueryAnswer> {
  return ask('/api/query', { sql, params, columns: true }, signal)
}

/** Header values are bytes: those of the name in UTF-8. */
function asHeader(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text))
}
