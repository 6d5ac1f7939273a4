import type { Query, QueryClient } from '@tanstack/react-query'
import type { RecordAnswer, RecordListAnswer } from '../../../../src/wire/records/records.ts'
import type { CellStatesAnswer } from '../../../../src/wire/runs/status.ts'
import type { RunCells } from '../../../../src/client/client.ts'

type RunCell = RunCells['cells'][number]

/** Whether a cell has a result, and is not only computed now. */
function isResult({ state }: RunCell): boolean {
  return state !== 'running'
}
type CellsById = ReadonlyMap<string, readonly RunCell[]>

/**
 * Writes the stored cells of a run into the query cache. Returns whether that is complete: there may be more cells, or
 * values too long for the event.
 */
export function applyRunCells(
  client: QueryClient,
  { cells: listed, omitted }: Pick<RunCells, 'cells' | 'omitted'>,
): boolean {
  const cells = listed.filter(isResult)
  const byId: CellsById = Map.groupBy(cells, ({ record_id }) => record_id)
  client.setQueriesData<RecordListAnswer>({ queryKey: ['records', 'page'], predicate: isUpToDate }, (page) =>
    withValues(page, byId),
  )
  client.setQueriesData<RecordAnswer>({ queryKey: ['records', 'one'], predicate: isUpToDate }, (record) =>
    record === undefined ? undefined : patched(record, byId.get(String(record['id']))),
  )
  client.setQueriesData<CellStatesAnswer>(
    { queryKey: ['records', 'cells'], predicate: isUpToDate },
    (states) => withStates(states, byId),
  )
  void client.invalidateQueries({ predicate: ({ queryKey }) => isProvenanceQueryOf(queryKey, byId) })
  return omitted === 0 && cells.every((cell) => cell.state === 'failed' || hasValue(cell))
}

/** Writing into an invalidated query that is not loading would mark it as up to date. */
function isUpToDate({ state }: Query): boolean {
  return !state.isInvalidated || state.fetchStatus === 'fetching'
}

/** Returns undefined if no record of the page has changed. */
function withValues(page: RecordListAnswer | undefined, byId: CellsById): RecordListAnswer | undefined {
  if (page === undefined) return undefined
  let isChanged = false
  const records = page.records.map((record) => {
    const changed = patched(record, byId.get(String(record['id'])))
    if (changed === undefined) return record
    isChanged = true
    return changed
  })
  return isChanged ? { ...page, records } : undefined
}

function patched(record: RecordAnswer, cells: readonly RunCell[] = []): RecordAnswer | undefined {
  const values = cells.filter((cell) => hasValue(cell) && cell.field in record)
  if (values.length === 0) return undefined
  return { ...record, ...Object.fromEntries(values.map(({ field, value }) => [field, value])) }
}

function withStates(states: CellStatesAnswer | undefined, byId: CellsById): CellStatesAnswer | undefined {
  if (states === undefined) return undefined
  const changed = [...byId].filter(([id]) => Object.hasOwn(states, id))
  if (changed.length === 0) return undefined
  const next = { ...states }
  for (const [id, cells] of changed) {
    next[id] = { ...next[id], ...Object.fromEntries(cells.map(({ field, state }) => [field, state])) }
  }
  return next
}

function hasValue(cell: RunCell): boolean {
  return cell.state === 'fresh' && 'value' in cell
}

/** Whether a query is the history or explanation of one of the cells. */
function isProvenanceQueryOf([first, second, recordId, field]: readonly unknown[], byId: CellsById): boolean {
  if (first !== 'records' || (second !== 'history' && second !== 'why')) return false
  return byId.get(String(recordId))?.some((cell) => cell.field === field) === true
}
