import { useQuery } from '@tanstack/react-query'
import { formatCount } from '../ui/format.ts'
import { waitingQuery } from './proposal-queries.ts'
import './waiting-badge.css'

/** The number of waiting proposals, if any. */
export function WaitingBadge() {
  const { data: waiting = 0 } = useQuery(waitingQuery)
  if (waiting === 0) return null
  return (
    <>
      {' '}
      <span className="waiting-badge">
        {formatCount(waiting)}
        <span className="visually-hidden"> waiting</span>
      </span>
    </>
  )
}
