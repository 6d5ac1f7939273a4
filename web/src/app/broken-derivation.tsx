import { TriangleAlert } from 'lucide-react'
import type { ApiError } from '../api/api-error.ts'
import { mayRepair } from '../repair/may-repair.ts'
import { Button } from '../ui/button.tsx'
import './lost-notice.css'
import { useContractRetry } from './use-contract-retry.ts'

interface BrokenDerivationProps {
  readonly error: ApiError
  readonly onOpen: () => void
}

/** Says what is not valid in a derivation, or in a file that it needs, above records that can only be read until it is. */
export function BrokenDerivation({ error, onOpen }: BrokenDerivationProps) {
  useContractRetry()
  return (
    <p className="lost-notice" role="alert">
      <TriangleAlert size={15} aria-hidden="true" />
      <span>
        <strong>{error.message}</strong> Until the file is valid, values cannot be edited or computed.
      </span>
      {mayRepair(error.place?.file ?? '') && (
        <Button look="quiet" onClick={onOpen}>
          Open
        </Button>
      )}
    </p>
  )
}
