import type { JsonObject } from '../../../contract/json/json.ts'
import type { EntryPlace, FoundEntries } from '../../cell-entries.ts'
import { ENTRIES_LENGTH, type CellLog, type PlacedEntries } from '../cell-log.ts'
import { runAsync } from '../steps.ts'

/** The number of entries read of each cell at first, and the factor by which it grows with each read. */
const FIRST_ENTRIES = 2
const MORE_TIMES = 4

type FoundEntry = Awaited<ReturnType<typeof readAfter>>['entries'][number]

/**
 * Returns entries of the cells of a record after a place, oldest first: about `limit`, and fewer where they are long. Entries
 * of one line are not divided. Reads little more of the log than that: of each cell a few entries at a time, and those of all
 * cells together, which on PostgreSQL share statements.
 */
export async function entriesOfCells(
  logs: readonly CellLog[],
  { from, limit, upTo }: PlacedEntries,
): Promise<FoundEntries> {
  const cells = logs.map((log) => new CellEntries(log, { from, limit: FIRST_ENTRIES, upTo }))
  const entries: JsonObject[] = []
  let length = 0
  let next: EntryPlace | null = null
  for (;;) {
    await Promise.all(cells.filter(({ isEmpty }) => isEmpty).map((cell) => cell.readMore()))
    const first = cells.flatMap(({ head }) => head ?? []).reduce(earlier, null)
    if (first === null) return { entries, next: null }
    const { order, seq, life } = first.place
    const ofLine = cells.filter(({ head }) => head?.place.order === order && head.place.seq === seq)
    if (entries.length > 0 && (entries.length + ofLine.length > limit || length > ENTRIES_LENGTH))
      return { entries, next }
    for (const cell of ofLine) {
      const { entry } = cell.take()
      entries.push(entry)
      length += JSON.stringify(entry).length
    }
    next = { life, seq }
  }
}

function earlier(one: FoundEntry | null, other: FoundEntry): FoundEntry {
  if (one === null) return other
  const byLife = one.place.order - other.place.order
  return (byLife === 0 ? one.place.seq - other.place.seq : byLife) <= 0 ? one : other
}

function readAfter(log: CellLog, query: PlacedEntries) {
  return runAsync(log.entriesAfter(query))
}

/** The entries of a cell, read as they are taken. */
class CellEntries {
  readonly #log: CellLog
  #query: PlacedEntries
  #found: readonly FoundEntry[] = []
  #taken = 0
  #isAll = false

  constructor(log: CellLog, query: PlacedEntries) {
    this.#log = log
    this.#query = query
  }

  get head(): FoundEntry | undefined {
    return this.#found[this.#taken]
  }

  /** Whether more must be read for {@link head}. */
  get isEmpty(): boolean {
    return this.head === undefined && !this.#isAll
  }

  async readMore(): Promise<void> {
    const { entries, isFull } = await readAfter(this.#log, this.#query)
    this.#found = entries
    this.#taken = 0
    this.#isAll = !isFull
    const from = entries.at(-1)?.place ?? this.#query.from
    this.#query = { ...this.#query, from, limit: this.#query.limit * MORE_TIMES }
  }

  take(): FoundEntry {
    const entry = this.head
    if (entry === undefined) throw new Error('no entry was read')
    this.#taken += 1
    return entry
  }
}
