import { queryOptions } from '@tanstack/react-query'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import type { SheetField } from '../../api/contract.ts'
import { RequestLimiter } from '../../api/request-limiter.ts'
import { server } from '../../api/server.ts'

/** Entries of a record that were written together, with one origin. */
export interface RecordChange {
  /** The first of them, which has the origin of all. */
  readonly entry: ProvenanceEntryAnswer
  /** In the order of the fields. */
  readonly entries: readonly ProvenanceEntryAnswer[]
}

/** Browsers allow six connections per host; the others remain for the rest of the page. */
const limiter = new RequestLimiter(3, 3)

/** The changes of all fields of a record, up to a moment, newest first. */
export function recordHistoryQuery(recordId: string, fields: readonly SheetField[], asOf: string | null) {
  const names = fields.map(({ name }) => name)
  return queryOptions({
    queryKey: ['records', 'record history', recordId, names, asOf],
    queryFn: async ({ signal }) => {
      const histories = await Promise.all(
        names.map((field) => {
          const cell = { record_id: recordId, field, ...(asOf !== null && { as_of: asOf }) }
          return limiter.run(() => server.cells.history(cell, { signal }), signal)
        }),
      )
      return changesOf(histories)
    },
    staleTime: Infinity,
  })
}

/** Merges the histories of cells to changes, newest first. Entries without a value before and after are left out. */
export function changesOf(histories: readonly (readonly ProvenanceEntryAnswer[])[]): readonly RecordChange[] {
  const entries = histories.flat().filter(({ value, previous }) => value !== null || previous !== null)
  const groups = Map.groupBy(entries, originOf)
  return [...groups.values()]
    .map((group) => ({ entry: group[0], entries: group, last: Math.max(...group.map(({ seq }) => seq)) }))
    .filter((change): change is typeof change & RecordChange => change.entry !== undefined)
    .toSorted((a, b) => b.last - a.last)
    .map(({ entry, entries: group }) => ({ entry, entries: group }))
}

/** Returns the same text for entries that were written together. */
function originOf({
  at,
  actor,
  source,
  run_id: run,
  derivation,
  file,
  proposal,
}: ProvenanceEntryAnswer): string {
  return JSON.stringify([at, actor, source, run, derivation, file, proposal])
}
