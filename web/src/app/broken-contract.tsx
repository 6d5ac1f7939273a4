import { lazy, Suspense } from 'react'
import { ApiError, isUnreachable, messageOf } from '../api/api-error.ts'
import { mayRepair } from '../repair/may-repair.ts'
import { Notice } from '../ui/notice.tsx'
import { useContractRetry } from './use-contract-retry.ts'

// With the editor, which is seldom needed.
const RepairDefinition = lazy(() => import('../repair/repair-definition.tsx'))

/** Replaces the page while the sheet cannot be read, and retries every second. A definition file that is not valid can be repaired in it. */
export function BrokenContract({ error }: { readonly error: Error }) {
  useContractRetry()
  const isAway = isUnreachable(error)
  if (error instanceof ApiError && error.place !== null && mayRepair(error.place.file)) {
    return (
      <Suspense fallback={<div className="app-loading" aria-busy="true" />}>
        <RepairDefinition error={error} />
      </Suspense>
    )
  }
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
