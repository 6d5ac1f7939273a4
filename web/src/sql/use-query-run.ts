import { useEffect, useRef, useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import { server } from '../api/server.ts'
import type { ResultRow } from './table/result-columns.ts'

/** The result of a statement. */
export interface QueryResult {
  readonly sql: string
  /** Column names in the order of the statement. */
  readonly columns: readonly string[]
  readonly rows: readonly ResultRow[]
  /** Whether there are more rows than the server returned. */
  readonly isTruncated: boolean
  readonly ms: number
}

export type QueryOutcome =
  | { readonly kind: 'running'; readonly since: number }
  | { readonly kind: 'failed'; readonly message: string; readonly ms: number }
  | { readonly kind: 'cancelled'; readonly ms: number }
  | { readonly kind: 'done' }

export interface QueryRun {
  /** The outcome of the last statement; null before the first. */
  readonly outcome: QueryOutcome | null
  /** The last successful result, which stays while the next statement runs. */
  readonly result: QueryResult | null
  run(sql: string): void
  cancel(): void
}

/** Called when a statement has ended; `rows` is null if it failed. */
type OnEnd = (sql: string, rows: number | null, ms: number) => void

/** Runs one statement at a time; a new one cancels the previous one. */
export function useQueryRun(onEnd: OnEnd): QueryRun {
  const [outcome, setOutcome] = useState<QueryOutcome | null>(null)
  const [result, setResult] = useState<QueryResult | null>(null)
  const current = useRef<AbortController>(null)
  useEffect(
    () => () => {
      current.current?.abort()
      current.current = null
    },
    [],
  )

  const run = async (sql: string): Promise<void> => {
    current.current?.abort()
    const controller = new AbortController()
    current.current = controller
    const since = performance.now()
    setOutcome({ kind: 'running', since })
    try {
      const {
        columns = [],
        rows,
        truncated,
      } = await server.query(sql, [], {
        columns: true,
        signal: controller.signal,
      })
      // Aborted after the response arrived: a newer statement runs, or the page was left.
      if (controller.signal.aborted) return
      const ms = performance.now() - since
      setResult({ sql, columns, rows, isTruncated: truncated === true, ms })
      setOutcome({ kind: 'done' })
      onEnd(sql, rows.length, ms)
    } catch (error) {
      if (current.current !== controller) return
      const ms = performance.now() - since
      setOutcome(
        controller.signal.aborted
          ? { kind: 'cancelled', ms }
          : { kind: 'failed', message: messageOf(error), ms },
      )
      onEnd(sql, null, ms)
    }
  }
  return {
    outcome,
    result,
    run: (sql) => void run(sql),
    cancel: () => current.current?.abort(),
  }
}
