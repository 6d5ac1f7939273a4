import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { SheetFrame } from '../../../src/wire/service/sheet-frame.ts'
import { setLost } from './connection.ts'
import { releaseList } from './held-list.ts'
import { listenToChanges } from './live-channel.ts'
import { refetch } from './refetch.ts'

/** The minimum interval of refetching records during a run. */
const RECORDS_MS = 2000

/** Refetches the data that changes; mounted once. */
export function useLive(): void {
  const client = useQueryClient()
  useEffect(() => {
    let known: SheetFrame | null = null
    let wasLost = false
    const records = new Throttle(RECORDS_MS, () => {
      refetch(client, { queryKey: ['records'] })
      // Its differences refer to the present records.
      refetch(client, { queryKey: ['proposals', 'one'] })
    })
    const stop = listenToChanges(({ sheet, isLost }) => {
      setLost(isLost)
      // Requests made while the connection was lost have failed.
      if (wasLost && !isLost) {
        releaseList(client)
        void client.invalidateQueries()
      } else if (known !== null && sheet !== null) refresh(client, records, { before: known, now: sheet })
      wasLost = isLost
      known = sheet ?? known
    })
    return () => {
      stop()
      records.cancel()
    }
  }, [client])
}

interface Change {
  readonly before: SheetFrame
  readonly now: SheetFrame
}

/** Invalidates by the first word of the query keys (see api/queries.ts). */
function refresh(client: QueryClient, records: Throttle, { before, now }: Change): void {
  if (before.definition !== now.definition) {
    releaseList(client)
    refetch(client)
    return
  }
  if (before.seq !== now.seq) records.run()
  if (before.proposals !== now.proposals) refetch(client, { queryKey: ['proposals'] })
  if (before.runs !== now.runs) refetch(client, { queryKey: ['runs'] })
}

/** Calls a function at once, and again after the interval if it was requested in the meantime. */
class Throttle {
  readonly #ms: number
  readonly #action: () => void
  #timer: ReturnType<typeof setTimeout> | null = null
  #wanted = false

  constructor(ms: number, action: () => void) {
    this.#ms = ms
    this.#action = action
  }

  run(): void {
    this.#wanted = true
    if (this.#timer === null) this.#act()
  }

  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #act(): void {
    this.#wanted = false
    this.#action()
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#wanted) this.#act()
    }, this.#ms)
  }
}
