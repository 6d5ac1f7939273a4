import { showNames, showValue } from '../../../contract/json/show-value.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { resultOfRun, type ResultOfRun } from '../../../derivation/run/cell-result.ts'
import type { Derivation, StepHashes } from '../../../derivation/definition/derivation-kind.ts'
import { evidenceOf } from '../../../derivation/definition/evidence.ts'
import { hashesOfValues } from '../../../derivation/hash/hash-of-values.ts'
import { manualCells, manualCounts, sumOf } from '../../../derivation/plan/manual-cells.ts'
import { Planner } from '../../../derivation/plan/planner.ts'
import type { CellFailure, RunPlan } from '../../../derivation/run-request.ts'
import { Tally, withRestSkipped } from '../../../derivation/run/tally.ts'
import { ContractError, OperationError, ValidationError } from '../../../errors/service-error.ts'
import { ok } from '../../../errors/result.ts'
import type { CacheEntry, WorkItem } from '../../../store/cell-work.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunOrder } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import type { Derivations } from '../../definition/definition-files.ts'
import { resolveSelection, type RunSelection } from './run-selection.ts'
import type { Sheet } from '../../sheet.ts'

/** Throws ValidationError when a run that keeps values has options for computing. */
export function checkKeepFresh(selection: RunSelection): void {
  if (selection.keepFresh === undefined) return
  const { force, overwriteManual, only, limit, maxCalls, maxCost, reuseResponses } = selection
  const others = {
    force,
    overwrite_manual: overwriteManual,
    only,
    limit,
    max_calls: maxCalls,
    max_cost: maxCost,
    reuse_responses: reuseResponses,
  }
  const given = Object.entries(others).flatMap(([name, value]) =>
    value === undefined || value === null || value === false ? [] : [name],
  )
  if (given.length === 0) return
  throw new ValidationError(
    `keep_fresh makes no calls and goes with targets and record_ids only; leave out ${showNames(given)}`,
    'conflicting_parameters',
  )
}

/** Returns the derivation of a file. Throws OperationError when it does not exist. */
export function derivationOf({ levels }: Derivations, file: string): Derivation {
  const all = levels.flat()
  const found = all.find((derivation) => derivation.file === file)
  if (found !== undefined) return found
  const files = all.map((derivation) => derivation.file)
  throw new OperationError(
    `${showValue(file)} is no derivation of the sheet; ` +
      (files.length > 0 ? `derivations are ${files.join(', ')}` : 'it has none'),
    'unknown_derivation_file',
  )
}

/** A selection of cells whose values are kept. */
type KeptSelection = RunSelection & { readonly keepFresh: string }

/** The order of a run that keeps values. */
type KeptOrder = RunOrder & { readonly keepFresh: string }

/** The resolved cells of a run that keeps values. */
interface Keeping {
  readonly store: SheetStore
  readonly planner: Planner
  readonly derivation: Derivation
  /** The earlier versions of its file that the present contract allows, newest first. */
  readonly earlier: readonly Derivation[]
  /** Records that do not exist (D29). */
  readonly absent: readonly CellFailure[]
}

/**
 * Marks the stale cells of an edited derivation file as fresh and keeps their values. A cell whose inputs have changed
 * since it was computed stays stale; missing, failed and overridden cells stay as they are. Each marked cell gets a
 * provenance entry. Requires the run lock. Throws OperationError when the file is not a derivation, or none of its
 * cells has ever been computed.
 */
export async function keepFresh(sheet: Sheet, order: KeptOrder, active: ActiveRun): Promise<void> {
  const { id, signal, feed } = active
  const keeping = await find(sheet, order, signal)
  const { store, planner, absent } = keeping
  const total = planner.scope.total * planner.request.targets.size + absent.length
  const manual = sumOf(await manualCells(planner.request))
  await store.runLocked(id, { total, manual, absent })
  const tally = new Tally({ total, manual, failed: absent.length }, feed)
  tally.report()
  for await (const { results, cache } of kept(keeping)) {
    signal.throwIfAborted()
    const cells = results.map(({ stored }) => stored)
    const commit = { actor: order.actor, run: id, progress: tally.beside, cells, cache }
    tally.stored(results, await store.commitCells(commit))
  }
  feed.onProgress(withRestSkipped(tally.progress))
}

/** Plans {@link keepFresh}; its cells count as `cached`. Throws as it does. */
export async function planKeepFresh(
  sheet: Sheet,
  selection: KeptSelection,
  signal: AbortSignal,
): Promise<RunPlan> {
  const keeping = await find(sheet, selection, signal)
  const { request, scope } = keeping.planner
  const counts = new Map([...request.targets].map((target) => [target, 0]))
  for await (const { results } of kept(keeping)) {
    for (const { stored } of results) counts.set(stored.target, (counts.get(stored.target) ?? 0) + 1)
  }
  const manual = await manualCells(request)
  const targets = [...counts].map(([target, cached]) => {
    const left = manualCounts({ all: manual.get(target) ?? 0, overwritten: 0 })
    return [target, { compute: 0, cached, skipped: scope.total - cached, ...left }] as const
  })
  const left = manualCounts({ all: sumOf(manual), overwritten: 0 })
  return { targets: Object.fromEntries(targets), calls: 0, cost: 0, ...left, atMost: false }
}

async function find(sheet: Sheet, selection: KeptSelection, signal: AbortSignal): Promise<Keeping> {
  const { contract, derivations } = await sheet.deriving()
  const derivation = derivationOf(derivations, selection.keepFresh)
  const wanted = selection.targets ?? derivation.targets
  const others = wanted.filter((target) => !derivation.targets.includes(target))
  if (others.length > 0) {
    throw new OperationError(
      `${derivation.file} does not compute ${showNames(others)}; it computes ${derivation.targets.join(', ')}`,
      'unknown_target',
    )
  }
  const { plan, absent } = await resolveSelection(
    sheet,
    { targets: wanted, recordIds: selection.recordIds, force: false, only: 'stale' },
    signal,
  )
  const { store, targets } = plan
  const { total, lastKey, lastSeq, targets: states } = await store.status()
  const hasValues = states.some(({ field, fresh, stale }) => targets.has(field) && fresh + stale > 0)
  if (!hasValues) {
    throw new OperationError(
      `no cell of ${derivation.file} has a computed value that could be kept; compute them first`,
      'nothing_to_do',
    )
  }
  const scope = { total: plan.records?.length ?? total, records: plan.records, lastKey, lastSeq }
  const earlier: Derivation[] = []
  for (const { sha256, text } of await store.derivationVersions(derivation.file)) {
    if (sha256 === derivation.sha256) continue
    try {
      const source = { file: derivation.file, bytes: Buffer.from(text) }
      earlier.push({ ...(await sheet.readDerivation(source, contract)), sha256 })
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
    }
  }
  return { store, planner: new Planner(plan, scope, signal), derivation, earlier, absent }
}

/** Yields the cells whose values are kept, in batches. */
async function* kept({ store, planner, derivation, earlier }: Keeping): AsyncGenerator<{
  readonly results: readonly ResultOfRun[]
  readonly cache: readonly CacheEntry[]
}> {
  const versions = [derivation, ...earlier]
  const read = versions.flatMap(({ inputs }) => inputs).concat(derivation.targets)
  // A blocked cell can keep its value, since that takes no call.
  const wanted = { ...derivation, inputs: [...new Set(read)] }
  for await (const items of planner.work(wanted, { ready: false })) {
    const results: ResultOfRun[] = []
    const cache: CacheEntry[] = []
    for (const item of items) {
      const hashes = hashesOfValues(derivation, item.inputs)
      if (hashes === null) continue
      const before = earlier.flatMap((version) => hashesOfValues(version, item.inputs) ?? [])
      for (const cell of planner.cells(item)) {
        // Different inputs give another hash than that of the last computation for every version.
        const old = before.find(({ valid }) => cell.inputHash !== null && valid.includes(cell.inputHash))
        if (cell.inputHash === null || old === undefined) continue
        const hash = sameHash(cell.inputHash, old, hashes)
        const provenance = await originOf(store, item, { target: cell.target, hash: cell.inputHash })
        const value = item.inputs[cell.target] ?? null
        results.push(
          resultOfRun({ derivation, item, hash }, { cell, result: ok(value), cached: true, provenance }),
        )
        // The cache has the results of steps, not of the computations that consist of them.
        if (derivation.kind.stepsOf !== undefined) continue
        cache.push({ inputHash: hash, values: { [cell.target]: value }, provenance })
      }
    }
    if (results.length > 0) yield { results, cache }
  }
}

/**
 * Returns the hash that a kept value has from now on: of as many steps as it had before, so that edits of later steps leave it fresh. A file
 * with another number of steps does not say which of them the value came from: all count then.
 */
function sameHash(hash: string, before: StepHashes, now: StepHashes): string {
  if (before.valid.length !== now.valid.length) return now.whole
  return now.valid[before.valid.indexOf(hash)] ?? now.whole
}

/** Returns the provenance of a kept value: its original request, and the entry that stored it. */
async function originOf(
  store: SheetStore,
  { id }: WorkItem,
  { target, hash }: { readonly target: string; readonly hash: string },
): Promise<JsonObject> {
  const entry = await store.computation(id, target, hash)
  if (entry === null) return {}
  const keeps = entry['keeps'] ?? entry['seq'] ?? null
  const { received_at: receivedAt } = entry
  return { ...evidenceOf(entry), ...(receivedAt !== undefined && { received_at: receivedAt }), keeps }
}
