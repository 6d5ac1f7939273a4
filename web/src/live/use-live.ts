import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { SheetFrame } from '../../../src/wire/service/sheet-frame.ts'
import { setLost } from './connection.ts'
import { listenToChanges } from './live-channel.ts'
import { readAgain } from './read-again.ts'

/** During a run values change all the time: so often at most are the records read again. */
const RECORDS_MS = 2000

/** Keeps what the page shows up to date with what anybody writes; once on the page. */
export function useLive(): void {
  const client = useQueryClient()
  useEffect(() => {
    let known: SheetFrame | null = null
    let wasLost = false
    const records = new Throttle(RECORDS_MS, () => {
      readAgain(client, { queryKey: ['records'] })
      // What it says of a proposal is against the records of now.
      readAgain(client, { queryKey: ['proposals', 'one'] })
    })
    const stop = listenToChanges(({ sheet, isLost }) => {
      setLost(isLost)
      // Whatever was asked for meanwhile comes to nothing.
      if (wasLost && !isLost) void client.invalidateQueries()
      else if (known !== null && sheet !== null) refresh(client, records, { before: known, now: sheet })
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

/** The first word of a query's key says what makes it out of date (see api/queries.ts). */
function refresh(client: QueryClient, records: Throttle, { before, now }: Change): void {
  if (before.definition !== now.definition) {
    readAgain(client)
    return
  }
  if (before.seq !== now.seq) records.run()
  if (before.proposals !== now.proposals) readAgain(client, { queryKey: ['proposals'] })
  if (before.runs !== now.runs) readAgain(client, { queryKey: ['runs'] })
}

/** Runs something at once, and then again as soon as it may be when it was wanted meanwhile. */
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
