import { useSearchParams } from 'wouter'

/** The parameter of the URL with the moment that the grid shows: the `seq` of an entry of the log, or a time. */
export const AS_OF_PARAMETER = 'as_of'

/** Says why an earlier state cannot be changed. */
export const PAST_REASON = 'Earlier states are read-only. Go back to now to change the sheet.'

/** Says which parts of a filter are off. */
export const PAST_FILTER =
  'Not in earlier states: SQL, and conditions on states, failures, reviews and writers.'

/** Returns the moment of the URL; null for now. */
export function useAsOf(): string | null {
  const [params] = useSearchParams()
  return params.get(AS_OF_PARAMETER) || null
}
