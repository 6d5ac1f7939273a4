import type { QueryClient } from '@tanstack/react-query'
import type { RecordAnswer, RecordListAnswer } from '../../../src/wire/records/records.ts'
import type { DoneChange } from './undo-stack.ts'

/**
 * Puts values that are known to be stored where the page shows them, at once: the order of a sorted page and what a filter lets through
 * follow with the next look at the server, which the live stream brings about.
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
  // What is computed from these cells is stale now; how far is for the server to say.
  void client.invalidateQueries({ queryKey: ['records', 'cells'] })
  // An answer that is on its way may be from before the write.
  void client.invalidateQueries({
    queryKey: ['records', 'page'],
    predicate: ({ state }) => state.fetchStatus === 'fetching',
  })
}

function withChanges(record: RecordAnswer, changes: readonly DoneChange[] = []): RecordAnswer {
  if (changes.length === 0) return record
  return { ...record, ...Object.fromEntries(changes.map(({ field, after }) => [field.name, after])) }
}
