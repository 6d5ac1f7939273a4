import { Component, type ReactNode } from 'react'
import { messageOf } from '../api/api-error.ts'
import { useIsLost } from '../live/connection.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

interface PageBoundaryProps {
  readonly children: ReactNode
}

interface PageBoundaryState {
  readonly failure: { readonly error: unknown } | null
}

/** Shows an error in place of its children if they fail to load or to render. */
export class PageBoundary extends Component<PageBoundaryProps, PageBoundaryState> {
  override state: PageBoundaryState = { failure: null }

  static getDerivedStateFromError(error: unknown): PageBoundaryState {
    return { failure: { error } }
  }

  override render(): ReactNode {
    const { failure } = this.state
    return failure === null ? this.props.children : <PageError error={failure.error} />
  }
}

function PageError({ error }: { readonly error: unknown }) {
  const isLost = useIsLost()
  return (
    <Notice
      kind="error"
      title="This page cannot be shown"
      actions={
        // Without a server, a reload would show an empty page.
        !isLost && (
          <Button look="primary" onClick={() => location.reload()}>
            Reload
          </Button>
        )
      }
    >
      <p>{messageOf(error)}</p>
      {isLost && <p>Reload it when the server is reachable again.</p>}
    </Notice>
  )
}
