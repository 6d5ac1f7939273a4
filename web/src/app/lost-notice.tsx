import { CloudOff } from 'lucide-react'
import { useIsLost } from '../live/connection.ts'
import './lost-notice.css'

/** Warns while the server is unreachable. */
export function LostNotice() {
  const isLost = useIsLost()
  return (
    <div role="status">
      {isLost && (
        <p className="lost-notice">
          <CloudOff size={15} aria-hidden="true" />
          <span>
            <strong>No connection to the server.</strong> The data shown may be outdated, and changes cannot
            be saved. This page reconnects automatically.
          </span>
        </p>
      )}
    </div>
  )
}
