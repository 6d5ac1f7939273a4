import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ProposedCellsAnswer } from '../../../src/wire/records/proposals.ts'
import { readRecordsById } from '../api/records-by-id.ts'
import { server } from '../api/server.ts'

const PROPOSALS_AT_ONCE = 50

/** The states that a list shows. */
export type ProposalFilter = 'waiting' | 'accepted' | 'rejected' | 'all'

/** The number of waiting proposals. */
export const waitingQuery = queryOptions({
  queryKey: ['proposals', 'waiting'],
  queryFn: async ({ signal }) =>
    (await server.proposals.list({ state: 'waiting', limit: 1 }, { signal })).waiting,
  staleTime: Infinity,
})

/** The pages of proposals, newest first. */
export function proposalPagesQuery(filter: ProposalFilter) {
  return infiniteQueryOptions({
    queryKey: ['proposals', 'pages', filter],
    queryFn: ({ pageParam, signal }) =>
      server.proposals.list(
        { state: filter === 'all' ? undefined : filter, cursor: pageParam, limit: PROPOSALS_AT_ONCE },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    staleTime: Infinity,
  })
}

/** A proposal with its differences to the present records. */
export function proposalQuery(id: string) {
  return queryOptions({
    queryKey: ['proposals', 'one', id],
    queryFn: ({ signal }) => server.proposals.get(id, { signal }),
    staleTime: Infinity,
  })
}

/** The effect that accepting a waiting change of the definition would have now. */
export function proposalPlanQuery(id: string) {
  return queryOptions({
    queryKey: ['proposals', 'plan', id],
    queryFn: ({ signal }) => server.proposals.plan(id, { signal }),
    retry: false,
  })
}

/** Cells for which a proposal waits: of a record, by field; `id` where the record is to be deleted. */
export type ProposedCells = Readonly<Record<string, ProposedCell>>

export type ProposedCell = ProposedCellsAnswer['cells'][number]

/** The cells of records for which proposals wait, by record; of several proposals for a cell, the newest. */
export function proposedCellsQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: ['proposals', 'cells', ...ids],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, ProposedCells>> => {
      const { cells } = await server.cells.proposed(ids, { signal })
      const byRecord = new Map<string, Record<string, ProposedCell>>()
      for (const cell of cells) {
        // Without a prototype: a field may have the name of one of its members.
        const ofRecord = byRecord.get(cell.record_id) ?? (Object.create(null) as Record<string, ProposedCell>)
        ofRecord[cell.field ?? 'id'] ??= cell
        byRecord.set(cell.record_id, ofRecord)
      }
      return byRecord
    },
    staleTime: Infinity,
    gcTime: 60_000,
  })
}

/** The values of a field of these records, by id. */
export function recordNamesQuery(ids: readonly string[], field: string) {
  return queryOptions({
    queryKey: ['records', 'names', field, ...ids],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const records = await readRecordsById(ids, [field], signal)
      return new Map(records.map((record) => [String(record['id']), nameOf(record[field])]))
    },
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
