import { useQuery } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import { listCountQuery } from '../api/queries.ts'
import type { RecordFilter } from '../api/record-filter.ts'

const NUMBERS = new Intl.NumberFormat()

interface MatchCountProps {
  readonly filter: RecordFilter | null
  /** The order of the list in which the records are counted. */
  readonly sort: string | null
  /** The moment of the records; null for now. */
  readonly asOf: string | null
}

/** The number of matching records of all records; greyed while it is loading. */
export function MatchCount({ filter, sort, asOf }: MatchCountProps) {
  const matching = useQuery(listCountQuery({ filter, sort, asOf }))
  const all = useQuery(listCountQuery({ filter: null, sort: null, asOf }))
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
