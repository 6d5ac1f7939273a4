import type { Contract } from '../../../contract/contract.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import type { Derivation } from '../../../derivation/definition/derivation-kind.ts'
import { dependenciesOf } from '../../../derivation/definition/graph.ts'
import { planRun } from '../../../derivation/plan/plan-run.ts'
import type { RunPlan } from '../../../derivation/run-request.ts'
import type { DefinitionEffect, TargetEffect } from '../../../store/definition-change.ts'
import type { FieldChanges } from '../../../store/field-changes.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { Sheet } from '../../sheet.ts'
import type { Derivations } from '../definition-files.ts'
import { ChangedStore, type CellsAfter } from './changed-store.ts'

/** The most records whose cells are planned for a change. */
const MOST_RECORDS = 100_000

/** A definition that is tried, and its effect. */
export interface TriedDefinition {
  readonly contract: Contract
  readonly derivations: Derivations
  readonly changes: Omit<FieldChanges, 'actor'> | undefined
  readonly effect: DefinitionEffect
}

/**
 * Plans the run that would compute, after a change, the derived fields in which it makes cells stale or missing, and the fields computed from
 * them: the calls and the cost of that run. Changes nothing. Null where that is not known: for more than 100,000 records, and where such a field or
 * an input gets values of before back. Throws RecordsError.
 */
export async function planRecomputing(
  sheet: Sheet,
  store: SheetStore,
  { contract, derivations, changes, effect }: TriedDefinition,
): Promise<RunPlan | null> {
  const { records, targets: effects } = effect
  const due = effects.filter(({ before, after }) => pendingIn(after) > pendingIn(before))
  const targets = withDependents(
    due.map(({ field }) => field),
    derivations.levels.flat(),
  )
  const planned = derivations.levels.flat().filter((one) => one.targets.some((name) => targets.has(name)))
  const restored = new Set(changes?.restored?.keys())
  if (planned.some(({ targets: own, inputs }) => [...own, ...inputs].some((name) => restored.has(name))))
    return null
  if (targets.size > 0 && records > MOST_RECORDS) return null
  const before = parseContract(await store.contractText())
  const earlier = new Map(Array.from(changes?.renamed ?? [], ([from, to]) => [to, from]))
  const nameBefore = (name: string): string | null => {
    const from = earlier.get(name)
    if (from !== undefined) return from
    const isKept = before.fieldByName.has(name) && changes?.removed.has(name) !== true
    return isKept && changes?.renamed.has(name) !== true ? name : null
  }
  const isSame = (name: string): boolean =>
    nameBefore(name) === name && before.fieldByName.get(name)?.type === contract.fieldByName.get(name)?.type
  return planRun({
    contract,
    levels: derivations.levels,
    targets,
    records: null,
    force: false,
    overwritable: new Set(),
    only: null,
    limit: null,
    maxCalls: null,
    maxCost: null,
    reuseResponses: false,
    stopAfterFailures: null,
    policies: sheet.policies(),
    limiter: sheet.limiter,
    now: await sheet.now(),
    store: new ChangedStore(store, {
      before,
      after: contract,
      nameBefore,
      cells: cellsAfter(
        derivations,
        effects,
        withDependents(
          effects.map(({ field }) => field),
          derivations.levels.flat(),
        ),
      ),
      keepsQueries: planned.every(({ reads }) => reads?.every(isSame) ?? true),
    }),
    signal: sheet.stopping,
  })
}

function pendingIn(counts: TargetEffect['after']): number {
  return counts === null ? 0 : counts.stale + counts.missing
}

/** Returns derived fields, and those that are computed from them, directly or not; the derivations are in the order of their levels. */
function withDependents(fields: readonly string[], derivations: readonly Derivation[]): ReadonlySet<string> {
  const found = new Set(fields)
  for (const derivation of derivations) {
    if (!dependenciesOf(derivation).some((name) => found.has(name))) continue
    for (const target of derivation.targets) found.add(target)
  }
  return found
}

function cellsAfter(
  { byTarget }: Derivations,
  effects: readonly TargetEffect[],
  concerned: ReadonlySet<string>,
): ReadonlyMap<string, CellsAfter> {
  const effectOf = new Map(effects.map((effect) => [effect.field, effect]))
  return new Map(
    Array.from(byTarget, ([name, derivation]) => {
      const { before = null, after = null } = effectOf.get(name) ?? {}
      const common = { derivation, isConcerned: concerned.has(name) }
      if (after === null) return [name, { ...common, isKnown: true, isOutdated: false }]
      // The store keeps the states of a field while no derivation computes it.
      const isKnown = before !== null || after.fresh + after.stale + after.failed > 0
      return [name, { ...common, isKnown, isOutdated: after.stale > (before?.stale ?? 0) }]
    }),
  )
}
