import type { RecordKey, WorkItem } from '../../store/cell-work.ts'
import { byRecord, oneByOne } from './by-record.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import { Planner, type RunScope } from './planner.ts'
import type { PlanRequest } from '../run-request.ts'

/** The records that a run goes through, as the store is now: with a `limit` only so many that have work. */
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
 * At most `limit` records, ascending, of which at least one cell would be computed, by a call or from the cache: first those, in their
 * order, with a cell that did not fail at its last try, and then those that failed the longest ago, so that one run after the other comes
 * to all. Where every cell is computed, the first in their order. Cells that are blocked, fail without a call, are not tried again yet or
 * turn out to be unchanged do not count, nor do those computed from one that fails (D27). Reads no further than it takes.
 */
async function firstWithWork(planner: Planner, limit: number): Promise<RecordKey[]> {
  const { derivations } = planner
  const untried: RecordKey[] = []
  const failed = new OldestFailures(limit)
  const work = derivations.map((derivation) => oneByOne(planner.work(derivation, { ready: true })))
  for await (const { key, items } of byRecord(work)) {
    const since = planner.takesAll ? null : failedSince(planner, items)
    if (since !== null && failed.areOlder(since)) continue
    if (!hasWork(planner, derivations, items)) continue
    if (since !== null) failed.add(key, since)
    else if (untried.push(key) === limit) return untried
  }
  return [...untried, ...failed.first(limit - untried.length)].toSorted((one, other) => one - other)
}

/** When the first of a record's cells failed; null where one of them has work and did not fail at its last try. */
function failedSince(planner: Planner, items: readonly (WorkItem | undefined)[]): string | null {
  const cells = items.flatMap((item) => (item === undefined ? [] : planner.cells(item)))
  const ready = cells.filter(({ blocked }) => !blocked)
  if (ready.some(({ state }) => state !== 'failed')) return null
  return ready.map(({ failure }) => failure?.at ?? '').toSorted()[0] ?? null
}

/** Collects the records that failed the longest ago; of those that failed together the first. */
class OldestFailures {
  readonly #limit: number
  #kept: { readonly key: RecordKey; readonly at: string }[] = []
  /** When the last of them failed, once there are as many as are wanted. */
  #last: string | null = null

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether there are enough that failed before a time, or then. */
  areOlder(at: string): boolean {
    return this.#last !== null && this.#last <= at
  }

  /** Adds a record; keys ascend. */
  add(key: RecordKey, at: string): void {
    // Sorting now and then costs less than keeping them sorted.
    if (this.#kept.push({ key, at }) >= 2 * this.#limit) this.#trim()
  }

  /** Returns so many of them. */
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

/** `items` has for each derivation the record's item, if there is one. */
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
