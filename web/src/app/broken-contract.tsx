import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isUnreachable, messageOf } from '../api/api-error.ts'
import { contractQuery } from '../api/queries.ts'
import { Notice } from '../ui/notice.tsx'

const RETRY_MS = 1000

/** Replaces the page while the sheet cannot be read, and retries every second. */
export function BrokenContract({ error }: { readonly error: Error }) {
  const client = useQueryClient()
  useEffect(() => {
    const timer = setInterval(
      () => void client.refetchQueries({ queryKey: contractQuery.queryKey, exact: true }),
      RETRY_MS,
    )
    return () => clearInterval(timer)
  }, [client])
  const isAway = isUnreachable(error)
  return (
    <Notice kind="error" title={isAway ? 'Cannot reach the server' : 'Cannot read the sheet'}>
      <p>{messageOf(error)}</p>
      <p>
        {isAway
          ? 'This page reconnects automatically.'
          : 'Fix and save the file; this page reloads automatically.'}
      </p>
    </Notice>
  )
}
