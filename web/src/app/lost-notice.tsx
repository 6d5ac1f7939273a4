import { CloudOff } from 'lucide-react'
import { useIsLost } from '../live/connection.ts'
import './lost-notice.css'

/** Says that the server is away, for as long as it is. */
export function LostNotice() {
  const isLost = useIsLost()
  return (
    <div role="status">
      {isLost && (
        <p className="lost-notice">
          <CloudOff size={15} aria-hidden="true" />
          <span>
            <strong>The server does not answer.</strong> What is shown may be out of date, and nothing can be
            saved. The page goes on by itself when it is back.
          </span>
        </p>
      )}
    </div>
  )
}
