import type { QueryClient } from '@tanstack/react-query'
import type { RecordAnswer, RecordListAnswer } from '../../../src/wire/records/records.ts'
import type { DoneChange } from './undo-stack.ts'

/**
 * Writes stored values into the query cache at once. Sort order and filter matches follow when the live stream
 * invalidates the pages.
 */
export function applyChanges(client: QueryClient, changes: readonly DoneChange[]): void {
  const byRecord = Map.groupBy(changes, ({ recordId }) => recordId)
  client.setQueriesData<RecordListAnswer>({ queryKey: ['records', 'page'] }, (page) =>
    page?.records.some(({ id }) => byRecord.has(String(id))) === true
      ? {
          ...page,
          records: page.records.map((record) => withChanges(record, byRecord.get(String(record['id'])))),
        }
      : page,
  )
  for (const [id, ofRecord] of byRecord) {
    client.setQueryData<RecordAnswer>(['records', 'one', id], (record) =>
      record === undefined ? undefined : withChanges(record, ofRecord),
    )
    for (const { field } of ofRecord) {
      void client.invalidateQueries({ queryKey: ['records', 'history', id, field.name] })
    }
    void client.invalidateQueries({ queryKey: ['records', 'why', id] })
  }
  // Dependent cells are stale now; only the server knows which.
  void client.invalidateQueries({ queryKey: ['records', 'cells'] })
  // A response in flight may be older than the write.
  void client.invalidateQueries({
    queryKey: ['records', 'page'],
    predicate: ({ state }) => state.fetchStatus === 'fetching',
  })
}

function withChanges(record: RecordAnswer, changes: readonly DoneChange[] = []): RecordAnswer {
  if (changes.length === 0) return record
  return { ...record, ...Object.fromEntries(changes.map(({ field, after }) => [field.name, after])) }
}
