import { useQuery } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import { countQuery } from '../api/queries.ts'
import type { RecordFilter } from '../api/record-filter.ts'

const NUMBERS = new Intl.NumberFormat()

/** The number of matching records of all records; greyed while it is loading. */
export function MatchCount({ filter }: { readonly filter: RecordFilter | null }) {
  const matching = useQuery(countQuery(filter))
  const all = useQuery(countQuery(null))
  if (matching.error !== null && !matching.isFetching) {
    return (
      <button
        type="button"
        className="match-count failed"
        title={`${messageOf(matching.error)}. Click to count again`}
        onClick={() => void matching.refetch()}
      >
        not counted
      </button>
    )
  }
  const total = all.data
  const count = matching.data
  if (count === undefined || total === undefined) return <span className="match-count" aria-busy="true" />
  const noun = total === 1 ? 'record' : 'records'
  return (
    <span
      className={matching.isPlaceholderData ? 'match-count stale' : 'match-count'}
      role="status"
      aria-busy={matching.isPlaceholderData}
    >
      {filter === null ? (
        NUMBERS.format(total)
      ) : (
        <>
          <strong>{NUMBERS.format(count)}</strong> of {NUMBERS.format(total)}
        </>
      )}
      <span className="match-count-noun"> {noun}</span>
    </span>
  )
}
