import { useSearchParams } from 'wouter'
import type { ProposalFilter } from './proposal-queries.ts'

const FILTERS: readonly ProposalFilter[] = ['waiting', 'accepted', 'rejected', 'all']

/** Returns the state filter of the URL, and URLs with the same or another filter. */
export function useProposalFilter(): {
  readonly filter: ProposalFilter
  /** The URL of a proposal beside the list; null for the list alone. */
  pathOf(id: string | null): string
  pathFor(filter: ProposalFilter): string
} {
  const [params] = useSearchParams()
  const filter = FILTERS.find((one) => one === params.get('state')) ?? 'waiting'
  const query = (one: ProposalFilter): string => (one === 'waiting' ? '' : `?state=${one}`)
  return {
    filter,
    pathOf: (id) => `/proposals${id === null ? '' : `/${encodeURIComponent(id)}`}${query(filter)}`,
    pathFor: (one) => `/proposals${query(one)}`,
  }
}
