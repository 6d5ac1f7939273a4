import { useSearchParams } from 'wouter'

/** The parameter of the URL with the moment that the grid shows: the `seq` of an entry of the log, or a time. */
export const AS_OF_PARAMETER = 'as_of'

/** Says why an earlier state cannot be changed. */
export const PAST_REASON = 'Earlier states are read-only. Go back to now to change the sheet.'

/** Says why filters and the sort order are off. */
export const PAST_ORDER = 'Earlier states are shown in the order of creation, without filters.'

/** Returns the moment of the URL; null for now. */
export function useAsOf(): string | null {
  const [params] = useSearchParams()
  return params.get(AS_OF_PARAMETER) || null
}
