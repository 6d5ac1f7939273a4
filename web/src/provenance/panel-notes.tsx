import { messageOf } from '../api/api-error.ts'
import { Button } from '../ui/button.tsx'

/** A message that data could not be loaded. */
export function PanelError({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  return (
    <div className="panel-error" role="alert">
      <p>{messageOf(error)}</p>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  )
}

/** A placeholder that becomes visible if loading takes long. */
export function PanelLoading() {
  return (
    <div className="panel-loading" aria-busy="true" aria-label="Loading">
      <span />
      <span />
      <span />
    </div>
  )
}
