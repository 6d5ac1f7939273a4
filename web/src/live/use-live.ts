import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { SheetFrame } from '../../../src/wire/changes.ts'
import { listenToChanges } from './live-channel.ts'

/** During a run values change all the time: so often at most are the records read again. */
const RECORDS_MS = 2000

/** Keeps what the page shows up to date with what anybody writes; once on the page. */
export function useLive(): void {
  const client = useQueryClient()
  useEffect(() => {
    let known: SheetFrame | null = null
    const records = new Throttle(RECORDS_MS, () => void client.invalidateQueries({ queryKey: ['records'] }))
    const stop = listenToChanges((state) => {
      if (known !== null) refresh(client, records, { before: known, now: state })
      known = state
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
    void client.invalidateQueries()
    return
  }
  if (before.seq !== now.seq) records.run()
  if (before.runs !== now.runs) void client.invalidateQueries({ queryKey: ['runs'] })
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
