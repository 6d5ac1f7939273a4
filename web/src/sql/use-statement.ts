import { useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'

const PARAMETER = 'q'
const WAIT_MS = 300
/** The maximum length of a statement in the URL, which servers limit. */
const MAX_LENGTH = 8000

export interface Statement {
  readonly text: string
  set(text: string): void
  /** Whether the statement is too long for the URL. */
  readonly isUnshared: boolean
}

/** The statement in the editor, synchronized with the URL. */
export function useStatement(initial: string): Statement {
  const [params, setParams] = useSearchParams()
  const inAddress = params.get(PARAMETER)
  const [text, setText] = useState(inAddress ?? initial)
  const [written, setWritten] = useState(inAddress)

  // The URL has changed by navigation.
  if (inAddress !== written) {
    setWritten(inAddress)
    if (inAddress !== null) setText(inAddress)
  }

  const isUnshared = encodeURIComponent(text).length > MAX_LENGTH
  useEffect(() => {
    const wanted = text === initial || text.trim() === '' || isUnshared ? null : text
    if (wanted === inAddress) return
    const timer = setTimeout(() => {
      setWritten(wanted)
      setParams(
        (now) => {
          const next = new URLSearchParams(now)
          if (wanted === null) next.delete(PARAMETER)
          else next.set(PARAMETER, wanted)
          return next
        },
        { replace: true },
      )
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [text, initial, inAddress, isUnshared, setParams])

  return { text, set: setText, isUnshared }
}
