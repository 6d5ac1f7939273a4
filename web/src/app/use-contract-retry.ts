import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { contractQuery } from '../api/queries.ts'

const RETRY_MS = 1000

/** Reads the contract again every second, while the component is mounted. */
export function useContractRetry(): void {
  const client = useQueryClient()
  useEffect(() => {
    const timer = setInterval(
      () => void client.refetchQueries({ queryKey: contractQuery.queryKey, exact: true }),
      RETRY_MS,
    )
    return () => clearInterval(timer)
  }, [client])
}
