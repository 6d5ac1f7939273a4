import type { RecordKey, WorkItem } from '../store/cell-work.ts'
import { byRecord, oneByOne } from './by-record.ts'
import type { Derivation } from './derivation-kind.ts'
import { Planner, type RunScope } from './planner.ts'
import type { PlanRequest } from './run-request.ts'

/** The records that a run goes through, as the store is now: with a `limit` only the first so many that have work. */
export async function runScope(request: PlanRequest): Promise<RunScope> {
  const { total, lastKey } = await request.store.status()
  const { records, limit } = request
  const scope: RunScope = { total: records?.length ?? total, records, lastKey }
  request.signal.throwIfAborted()
  return limit === null
    ? scope
    : { ...scope, records: await firstWithWork(new Planner(request, scope), limit) }
}

/**
 * The first `limit` records, ascending, of which at least one cell would be computed, by a call or from the cache. Cells
 * that are blocked, fail without a call or turn out to be unchanged do not count, nor do those computed from one that
 * fails (D27). Reads no further than it takes.
 */
async function firstWithWork(planner: Planner, limit: number): Promise<RecordKey[]> {
  const { derivations } = planner
  const found: RecordKey[] = []
  const work = derivations.map((derivation) => oneByOne(planner.work(derivation, { ready: true })))
  for await (const { key, items } of byRecord(work)) {
    if (!hasWork(planner, derivations, items)) continue
    found.push(key)
    if (found.length === limit) break
  }
  return found
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
