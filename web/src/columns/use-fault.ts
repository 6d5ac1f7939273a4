import { useMemo } from 'react'
import type { Fault } from '../derivations/editor/fault-line.ts'
import { faultOf } from '../derivations/editor/use-change-check.ts'

/** Returns the error with which a text is refused, at its line; null for an error elsewhere and for none. */
export function useFault(error: Error | null, file: string): Fault | null {
  return useMemo(() => {
    if (error === null) return null
    const { line, message } = faultOf(error, file)
    return line === null ? null : { line, message }
  }, [error, file])
}
