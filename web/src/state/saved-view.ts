import { queryOptions, useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import type { ViewAnswer } from '../../../src/wire/records/views.ts'
import { server } from '../api/server.ts'

/** The parameter of the URL with the id of the open view. */
export const VIEW_PARAMETER = 'view'

/** A view that is kept in the sheet. */
export type SavedView = ViewAnswer

export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => server.views.list({ signal }),
  staleTime: 15_000,
})

/** The open view. */
export interface OpenView {
  /** The id in the URL; null for all records. */
  readonly id: string | null
  /** Null for all records, and for a view that does not exist. */
  readonly saved: SavedView | null
  /** Whether the views are being loaded, so that the view of the URL is not known. */
  readonly isPending: boolean
}

/** Returns the view that the URL names. */
export function useOpenView(): OpenView {
  const [params] = useSearchParams()
  const id = params.get(VIEW_PARAMETER) || null
  const { data, isPending } = useQuery({ ...viewsQuery, enabled: id !== null })
  const saved = id === null ? null : (data?.find((view) => view.id === id) ?? null)
  return { id, saved, isPending: id !== null && isPending }
}
