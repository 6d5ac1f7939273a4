import type { RecordKey, WorkItem } from '../../store/cell-work.ts'
import { byRecord, oneByOne } from './by-record.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import { Planner, type RunScope } from './planner.ts'
import type { PlanRequest } from '../run-request.ts'

/** Returns the records that a run processes, from the present state of the store; with a `limit`, that many records with pending cells. */
export async function runScope(request: PlanRequest): Promise<RunScope> {
  const { total, lastKey, lastSeq } = await request.store.status()
  const { records, limit } = request
  const scope: RunScope = { total: records?.length ?? total, records, lastKey, lastSeq }
  request.signal.throwIfAborted()
  return limit === null
    ? scope
    : { ...scope, records: await firstWithWork(new Planner(request, scope), limit) }
}

/**
 * Returns at most `limit` records, ascending, of which at least one cell would be computed, by a call or from the cache. Records with a
 * cell that did not fail at its last try come first, in their order; then those that failed the longest ago, so that successive runs reach
 * all. If every cell is computed, these are the first records. Cells do not count that are blocked, fail without a call, are not tried
 * again yet or turn out to be unchanged, nor do those computed from a failing one (D27). Reads no more than it needs.
 */
async function firstWithWork(planner: Planner, limit: number): Promise<RecordKey[]> {
  const { derivations } = planner
  const untried: RecordKey[] = []
  const failed = new OldestFailures(limit)
  const work = derivations.map((derivation) =>
    oneByOne(planner.work(derivation, { ready: true, plans: true })),
  )
  for await (const { key, items } of byRecord(work)) {
    const since = planner.takesAll ? null : failedSince(planner, items)
    if (since !== null && failed.areOlder(since)) continue
    if (!hasWork(planner, derivations, items)) continue
    if (since !== null) failed.add(key, since)
    else if (untried.push(key) === limit) return untried
  }
  return [...untried, ...failed.first(limit - untried.length)].toSorted((one, other) => one - other)
}

/** Returns the time at which the first of a record's cells failed; null if one is pending that did not fail at its last try. */
function failedSince(planner: Planner, items: readonly (WorkItem | undefined)[]): string | null {
  const cells = items.flatMap((item) => (item === undefined ? [] : planner.cells(item)))
  const ready = cells.filter(({ blocked }) => !blocked)
  if (ready.some(({ state }) => state !== 'failed')) return null
  return ready.map(({ failure }) => failure?.at ?? '').toSorted()[0] ?? null
}

/** Collects the records that failed the longest ago; of those that failed at the same time, the first. */
class OldestFailures {
  readonly #limit: number
  #kept: { readonly key: RecordKey; readonly at: string }[] = []
  /** The latest failure among them, once there are as many as needed. */
  #last: string | null = null

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether enough records failed at a time or before it. */
  areOlder(at: string): boolean {
    return this.#last !== null && this.#last <= at
  }

  /** Adds a record; keys ascend. */
  add(key: RecordKey, at: string): void {
    // Sorting from time to time costs less than keeping the list sorted.
    if (this.#kept.push({ key, at }) >= 2 * this.#limit) this.#trim()
  }

  /** Returns this many of them. */
  first(count: number): RecordKey[] {
    this.#trim()
    return this.#kept.slice(0, count).map(({ key }) => key)
  }

  #trim(): void {
    const byTime = this.#kept.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
    this.#kept = byTime.slice(0, this.#limit)
    if (this.#kept.length === this.#limit) this.#last = this.#kept.at(-1)?.at ?? null
  }
}

/** `items` has the record's item for each derivation, if there is one. */
function hasWork(
  planner: Planner,
  derivations: readonly Derivation[],
  items: readonly (WorkItem | undefined)[],
): boolean {
  const failed = new Set<string>()
  for (const [index, derivation] of derivations.entries()) {
    const item = items[index]
    if (item === undefined) continue
    const cells = planner.cells(item)
    const usable = !derivation.inputs.some((input) => failed.has(input))
    const planned = usable ? planner.plan(derivation, item, cells) : null
    if (planned?.outcome === 'run' && planned.open.length > 0) return true
    if (planned === null || planned.outcome === 'failed') for (const { target } of cells) failed.add(target)
  }
  return false
}
