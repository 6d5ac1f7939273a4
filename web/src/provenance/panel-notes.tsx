import { messageOf } from '../api/api-error.ts'
import { Button } from '../ui/button.tsx'

/** What could not be read, in the server's words. */
export function PanelError({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  return (
    <div className="panel-error" role="alert">
      <p>{messageOf(error)}</p>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  )
}

/** Grey lines in the place of what is still to come; seen only when that takes long. */
export function PanelLoading() {
  return (
    <div className="panel-loading" aria-busy="true" aria-label="Loading">
      <span />
      <span />
      <span />
    </div>
  )
}
