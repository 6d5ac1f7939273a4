import { queryOptions } from '@tanstack/react-query'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import { server } from '../../api/server.ts'
import { isErased } from './origin-sentence.ts'

/** Entries of a record that were written together, with one origin. */
export interface RecordChange {
  /** The first of them, which has the origin of all. */
  readonly entry: ProvenanceEntryAnswer
  /** In the order of the fields. */
  readonly entries: readonly ProvenanceEntryAnswer[]
}

/** The changes of all fields of a record, up to a moment, newest first. */
export function recordHistoryQuery(recordId: string, asOf: string | null) {
  return queryOptions({
    queryKey: ['records', 'record history', recordId, asOf],
    queryFn: async ({ signal }) => {
      const record = { record_id: recordId, ...(asOf !== null && { as_of: asOf }) }
      return changesOf(await server.cells.history(record, { signal }))
    },
    staleTime: Infinity,
  })
}

/** Groups the entries of a record to changes, newest first. Entries without a value before and after are left out, but for erased ones. */
export function changesOf(all: readonly ProvenanceEntryAnswer[]): readonly RecordChange[] {
  const entries = all.filter((entry) => entry.value !== null || entry.previous !== null || isErased(entry))
  const groups = Map.groupBy(entries, originOf)
  return [...groups.values()]
    .map((group) => ({ entry: group[0], entries: group, last: Math.max(...group.map(({ seq }) => seq)) }))
    .filter((change): change is typeof change & RecordChange => change.entry !== undefined)
    .toSorted((a, b) => b.last - a.last)
    .map(({ entry, entries: group }) => ({ entry, entries: group }))
}

/** Returns the same text for entries that were written together. */
function originOf(entry: ProvenanceEntryAnswer): string {
  const { at, actor, source, run_id: run, derivation, file, proposal } = entry
  return JSON.stringify([at, actor, source, run, derivation, file, proposal, isErased(entry)])
}
