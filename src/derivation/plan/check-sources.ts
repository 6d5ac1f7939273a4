import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CellState } from '../../store/cell-state.ts'
import type { OutdatedCount } from '../../store/definition-change.ts'
import type { OutdatedCells, RecordKey, WorkCell, WorkItem } from '../../store/cell-work.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import { hashesOfPlan } from '../hash/hash-of-values.ts'
import { planComputation } from '../hash/plan-computation.ts'
import { INPUT_LIMIT } from './planner.ts'

type Store = Pick<SheetStore, 'work' | 'uncheckedTargets' | 'markOutdated'>

/** The number of records that are checked at a time. */
const CHUNK = 256

/**
 * Makes cells stale whose input hash is another one since a source of their derivation changed, and no others (D32). Failed cells that a run
 * would skip now are what they were before they failed. Reads the inputs of
 * all records once for each change of a source, and nothing while there is none. Other requests proceed meanwhile.
 */
export async function checkSources(
  store: Store,
  derivations: readonly Derivation[],
  signal: AbortSignal,
): Promise<void> {
  const unchecked = new Set((await store.uncheckedTargets()).map(({ field }) => field))
  for (const derivation of derivations) {
    const targets = derivation.targets.filter((target) => unchecked.has(target))
    if (targets.length > 0) await checkCells(store, { ...derivation, targets }, signal)
  }
}

/**
 * Makes all fresh cells stale of these derivations that read a field in all records, if the field has changed in any or the set of records
 * has (D32). Which of them have another value is known only when the query has run.
 */
export async function checkReads(
  store: Partial<Pick<SheetStore, 'uncheckedTargets' | 'markOutdated'>>,
  derivations: readonly Derivation[],
): Promise<void> {
  if (derivations.every(({ reads }) => reads === null)) return
  const unchecked = new Set((await store.uncheckedTargets?.())?.map(({ field }) => field))
  const all = derivations.flatMap(({ targets, reads }) =>
    reads === null ? [] : targets.filter((target) => unchecked.has(target)),
  )
  if (all.length > 0) await store.markOutdated?.({ cells: [], checked: null, all })
}

/** A derivation that is to be checked, with the names that the store has before. */
export interface DerivationToCount {
  readonly derivation: Derivation
  /** The present names of its targets, by those in the derivation. */
  readonly targets: ReadonlyMap<string, string>
  /** The present names of its inputs, by those in the derivation; an input without one has no value. */
  readonly inputs: ReadonlyMap<string, string>
  /** The present names of inputs that are converted: a cell with a value there is stale whatever it is. */
  readonly converted: ReadonlySet<string>
}

/** Counts the cells, by target, whose states {@link checkSources} would change with a changed derivation. Changes nothing. */
export async function countOutdated(
  store: Pick<SheetStore, 'work'>,
  { derivation, targets, inputs, converted }: DerivationToCount,
): Promise<ReadonlyMap<string, OutdatedCount>> {
  const nameAfter = new Map(Array.from(targets, ([name, before]) => [before, name]))
  const counts = new Map([...targets.keys()].map((name) => [name, { ...NONE_OUTDATED }]))
  for await (const items of allCells(store, [...targets.values()], [...inputs.values()])) {
    for (const item of items) {
      if ([...converted].some((name) => item.inputs[name] !== null)) continue
      const values = derivation.inputs.map((name) => [name, item.inputs[inputs.get(name) ?? name] ?? null])
      const outdatedCells = outdatedIn({ ...item, inputs: Object.fromEntries(values) }, derivation)
      const cellOf = new Map(item.cells.map((cell) => [cell.target, cell]))
      for (const { targets: fresh, skipped } of outdatedCells) {
        for (const name of fresh) add(name, 'fresh')
        for (const name of skipped)
          add(name, cellOf.get(name)?.inputHash === null ? 'failedToMissing' : 'failedToStale')
      }
    }
  }
  return counts

  function add(before: string, key: keyof OutdatedCount): void {
    const count = counts.get(nameAfter.get(before) ?? before)
    if (count !== undefined) count[key] += 1
  }
}

const NONE_OUTDATED = { fresh: 0, failedToStale: 0, failedToMissing: 0 }

/** Yields all records with their cells of these targets, in parts, between which others have their turn. */
async function* allCells(
  store: Pick<SheetStore, 'work'>,
  targets: readonly string[],
  inputs: readonly string[],
): AsyncGenerator<readonly WorkItem[], void> {
  const whole = {
    targets,
    inputs,
    inputLimit: INPUT_LIMIT,
    force: true,
    state: null,
    limit: CHUNK,
    only: null,
  }
  for (let after: RecordKey | null = null; ;) {
    const items: readonly WorkItem[] = await store.work({ ...whole, after })
    const last = items.at(-1)
    if (last === undefined) return
    yield items
    after = last.key
    await nextTurn()
  }
}

async function checkCells(store: Store, derivation: Derivation, signal: AbortSignal): Promise<void> {
  const { targets, inputs, sources } = derivation
  for await (const items of allCells(store, targets, inputs)) {
    signal.throwIfAborted()
    const cells = items.flatMap((item) => outdatedIn(item, derivation))
    if (cells.length > 0) await store.markOutdated({ cells, checked: null })
  }
  signal.throwIfAborted()
  await store.markOutdated({ cells: [], checked: { targets, sources } })
}

/** Returns the cells of a record whose states differ now: fresh ones with another input hash, and failed ones that are skipped. */
function outdatedIn(
  { id, inputs, tooLong, cells }: WorkItem,
  derivation: Derivation,
): OutdatedCells['cells'] {
  const of = (state: CellState): readonly WorkCell[] => cells.filter((cell) => cell.state === state)
  const [fresh, failed] = [of('fresh'), of('failed')]
  if (fresh.length + failed.length === 0) return []
  // A run could not compute them either.
  if (tooLong !== undefined) return outdated(id, fresh, [])
  const planned = planComputation(derivation, inputs)
  if (planned.outcome === 'blocked') return []
  const valid = planned.outcome === 'run' ? hashesOfPlan(derivation, planned.plan, inputs).valid : []
  return outdated(
    id,
    fresh.filter((cell) => cell.inputHash === null || !valid.includes(cell.inputHash)),
    planned.outcome === 'skipped' ? failed : [],
  )
}

function outdated(
  id: string,
  fresh: readonly WorkCell[],
  failed: readonly WorkCell[],
): OutdatedCells['cells'] {
  if (fresh.length + failed.length === 0) return []
  const targetOf = ({ target }: WorkCell): string => target
  return [{ id, targets: fresh.map(targetOf), skipped: failed.map(targetOf) }]
}
