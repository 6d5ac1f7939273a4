import { keepPreviousData, queryOptions, type QueryClient } from '@tanstack/react-query'
import type { Condition } from '../../../src/wire/schema/conditions.ts'
import type { RecordListAnswer } from '../../../src/wire/records/records.ts'
import { ApiError } from './api-error.ts'
import { filterParameters, type RecordFilter } from './record-filter.ts'
import type { ContractAnswer } from '../../../src/wire/definition/contract.ts'
import { isSameContract, toSheetContract, type ContractDocument, type SheetContract } from './contract.ts'
import { wholePage } from './whole-page.ts'
import { server } from './server.ts'

/**
 * The queries of the viewer. The first word of a key is what invalidates it: `records`, `runs`, `proposals` or
 * `contract` (see live/).
 */

export const contractQuery = queryOptions({
  queryKey: ['contract'],
  queryFn: async ({ signal }) => {
    const [{ document, fault }, { dialect }] = await Promise.all([
      readContract(signal),
      server.dialect(null, { signal }),
    ])
    return toSheetContract(document as unknown as ContractDocument, dialect, fault)
  },
  structuralSharing: (before, now) =>
    isSameContract(before as SheetContract | undefined, now as SheetContract) ? before : now,
  staleTime: Infinity,
})

/** Reads the contract: if a file of a derivation is not valid, without derivations, and with its error. */
async function readContract(
  signal: AbortSignal,
): Promise<{ readonly document: ContractAnswer; readonly fault: ApiError | null }> {
  try {
    return { document: await server.contract({ signal }), fault: null }
  } catch (error) {
    if (!(error instanceof ApiError) || error.type !== 'ContractError') throw error
    // Fails likewise if it is the contract that is not valid.
    return { document: await server.contract({ derived: false, signal }), fault: error }
  }
}

export const derivationsQuery = queryOptions({
  queryKey: ['contract', 'derivations'],
  queryFn: ({ signal }) => server.derivations({ signal }),
  staleTime: Infinity,
})

/** The text of a derivation file, also of one that is not valid. */
export function derivationFileQuery(file: string) {
  return queryOptions({
    queryKey: ['contract', 'derivation', file],
    queryFn: ({ signal }) => server.definition.read(file, { signal }),
    staleTime: Infinity,
  })
}

/** The latest changes of the definition. */
export const definitionHistoryQuery = queryOptions({
  queryKey: ['contract', 'history'],
  queryFn: ({ signal }) => server.definition.history({ limit: 200 }, { signal }),
  staleTime: Infinity,
})

/** A change of the definition with its texts. */
export function definitionChangeQuery(id: string) {
  return queryOptions({
    queryKey: ['contract', 'change', id],
    queryFn: ({ signal }) => server.definition.change(id, { signal }),
    staleTime: Infinity,
  })
}

/** A condition as an SQL expression in the dialect of the store. */
export function conditionTextQuery(where: Condition) {
  return queryOptions({
    queryKey: ['contract', 'condition text', where],
    queryFn: async ({ signal }) => (await server.dialect(where, { signal })).filter ?? '',
    staleTime: Infinity,
  })
}

/** The actor of requests that name none. */
export interface ServerActor {
  /** Null if the server has no default actor. */
  readonly actor: string | null
  /** Whether the server ignores the actor that a request names, because a reverse proxy sets it. */
  readonly isFixed: boolean
}

export const serverActorQuery = queryOptions({
  queryKey: ['actor'],
  queryFn: async ({ signal }): Promise<ServerActor> => {
    try {
      const { actor, fixed } = await server.permissions(null, { signal })
      return { actor, isFixed: fixed === true }
    } catch (error) {
      if (error instanceof ApiError && error.type === 'ValidationError')
        return { actor: null, isFixed: false }
      throw error
    }
  },
  staleTime: Infinity,
})

export function permissionsQuery(actor: string) {
  return queryOptions({
    queryKey: ['contract', 'permissions', actor],
    queryFn: ({ signal }) => server.permissions(actor, { signal }),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
}

/** The filter and sort order of a list of records. */
export interface RecordSelection {
  readonly filter: RecordFilter | null
  /** `-area,name`; null for creation order. */
  readonly sort: string | null
  /** The `seq` of an entry or a time, for the records as they were; null or absent is now. */
  readonly asOf?: string | null
}

const PAGE_SIZE = 100
/** A filtered or sorted page makes the server scan all records, so a longer page costs no more. */
const LONG_PAGE_SIZE = 500

/** Returns the number of records of a page. */
export function pageSizeOf(selection: RecordSelection): number {
  return isSearched(selection) && (selection.asOf ?? null) === null ? LONG_PAGE_SIZE : PAGE_SIZE
}

/** Whether the server scans records to find a page. */
export function isSearched({ filter, sort }: RecordSelection): boolean {
  return filter !== null || sort !== null
}

/** The records from position `page * pageSizeOf(selection)`. */
export function pageQuery(selection: RecordSelection, page: number) {
  const { filter, sort, asOf = null } = selection
  return queryOptions({
    queryKey: pageKey(selection, page),
    queryFn: async ({ signal, client }) => {
      if (asOf !== null) {
        const place = { limit: PAGE_SIZE, position: page * PAGE_SIZE }
        const past = { ...filterParameters(filter), sort, as_of: asOf, changed: true, ...place }
        return wholePage(past, (part) => server.records.list(part, { signal }))
      }
      const place = await placeOf(client, selection, page)
      signal.throwIfAborted()
      const query = { ...filterParameters(filter), sort, limit: pageSizeOf(selection), ...place }
      return wholePage(query, (part) => server.records.list(part, { signal }))
    },
    staleTime: Infinity,
    gcTime: 60_000,
  })
}

function pageKey({ filter, sort, asOf = null }: RecordSelection, page: number) {
  if (asOf !== null) return ['records', 'past page', asOf, filter, sort, page] as const
  return ['records', 'page', filter, sort, page] as const
}

/**
 * Returns the start of a page. Finding a position in a filtered or sorted list makes the server scan all records
 * before it, so the cursor of the previous page is preferred, if that page is loaded or loading.
 */
async function placeOf(
  client: QueryClient,
  selection: RecordSelection,
  page: number,
): Promise<{ cursor: string } | { position: number }> {
  const cursor = isSearched(selection) ? await cursorAfter(client, pageKey(selection, page - 1)) : null
  return cursor === null ? { position: page * pageSizeOf(selection) } : { cursor }
}

async function cursorAfter(
  client: QueryClient,
  queryKey: ReturnType<typeof pageKey>,
): Promise<string | null> {
  const query = client.getQueryCache().find<RecordListAnswer>({ queryKey, exact: true })
  if (query === undefined) return null
  try {
    const { fetchStatus, isInvalidated, data } = query.state
    if (fetchStatus === 'idle') return isInvalidated ? null : (data?.next_cursor ?? null)
    return (await query.promise)?.next_cursor ?? null
  } catch {
    // The previous page failed or was cancelled.
    return null
  }
}

/** The states of the derived cells of records. */
export function cellStatesQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: ['records', 'cells', ...ids],
    queryFn: ({ signal }) => server.cells.states(ids, [], { signal }),
    staleTime: Infinity,
    gcTime: 60_000,
  })
}

/** An earlier state of the sheet, and the range of those that are known; null is the present one. */
export function momentQuery(asOf: string | null) {
  return queryOptions({
    queryKey: ['records', 'moment', asOf],
    queryFn: ({ signal }) => server.records.history({ as_of: asOf ?? undefined }, { signal }),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
}

/** The number of records that match a filter. */
export function countQuery(filter: RecordFilter | null) {
  return listCountQuery({ filter, sort: null })
}

/** The number of records of a list. */
export function listCountQuery(selection: RecordSelection) {
  const { filter, asOf = null } = selection
  return queryOptions({
    queryKey: asOf === null ? ['records', 'count', filter] : ['records', 'past count', asOf, filter],
    queryFn: async ({ signal, client }) => {
      if (asOf === null) return (await server.records.summary(filterParameters(filter), { signal })).count
      if (filter === null) return (await server.records.history({ as_of: asOf }, { signal })).total
      // The server reads all records of that state for a page, and counts them.
      return (await client.fetchQuery(pageQuery(selection, 0))).total ?? 0
    },
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
}

export function summaryQuery(field: string, filter: RecordFilter | null) {
  return queryOptions({
    queryKey: ['records', 'summary', field, filter],
    queryFn: async ({ signal }) =>
      (await server.records.summary({ fields: [field], ...filterParameters(filter) }, { signal })).fields[
        field
      ] ?? null,
    staleTime: 10_000,
  })
}

export const statusQuery = queryOptions({
  queryKey: ['records', 'status'],
  queryFn: ({ signal }) => server.status([], { signal }),
  staleTime: Infinity,
})

export function recordQuery(id: string, asOf: string | null = null) {
  return queryOptions({
    queryKey: asOf === null ? ['records', 'one', id] : ['records', 'past one', id, asOf],
    queryFn: ({ signal }) => server.records.get(id, { as_of: asOf ?? undefined }, { signal }),
    staleTime: Infinity,
  })
}

/** The provenance entries of a cell, up to a moment, newest first. */
export function historyQuery(recordId: string, field: string, asOf: string | null = null) {
  const cell = { record_id: recordId, field, ...(asOf !== null && { as_of: asOf }) }
  return queryOptions({
    queryKey: ['records', 'history', recordId, field, asOf],
    queryFn: async ({ signal }) => (await server.cells.history(cell, { signal })).toReversed(),
    staleTime: Infinity,
  })
}

/** The latest reviews of a cell, newest first. */
export function cellReviewsQuery({ recordId, field }: { readonly recordId: string; readonly field: string }) {
  return queryOptions({
    queryKey: ['records', 'reviews', recordId, field],
    queryFn: async ({ signal }) =>
      (await server.cells.reviews({ record_id: recordId, field, ended: true }, { signal })).reviews,
    staleTime: Infinity,
  })
}

/** The number of cells with each verdict. */
export const reviewCountsQuery = queryOptions({
  queryKey: ['records', 'reviews'],
  queryFn: async ({ signal }) => {
    const { counts, writers } = await server.cells.reviews({ limit: 1 }, { signal })
    return { counts, writers }
  },
  staleTime: Infinity,
})

/** The explanation of a cell's state. */
export function explanationQuery(recordId: string, field: string) {
  return queryOptions({
    queryKey: ['records', 'why', recordId, field],
    queryFn: ({ signal }) => server.cells.explain({ record_id: recordId, field }, { signal }),
    staleTime: Infinity,
  })
}

/** The failed cells of the records that match a filter, by the reason of their failure. */
export function failuresQuery(filter: RecordFilter | null) {
  return queryOptions({
    queryKey: ['records', 'failures', filter],
    queryFn: ({ signal }) => server.cells.failures(filterParameters(filter), { signal }),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
}

export function runsQuery(cursor: string | null = null) {
  return queryOptions({
    queryKey: ['runs', 'list', cursor],
    queryFn: ({ signal }) => server.runs.list({ cursor }, { signal }),
    staleTime: Infinity,
  })
}

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['runs', 'one', id],
    queryFn: ({ signal }) => server.runs.get(id, { signal }),
    staleTime: Infinity,
  })
}
