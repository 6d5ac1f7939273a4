import { hash } from 'node:crypto'
import { jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { coerceComputed } from '../../contract/values/validate-value.ts'
import type { Contract } from '../../contract/contract.ts'
import type {
  BatchContext,
  Derivation,
  InputValues,
  Plan,
} from '../../derivation/definition/derivation-kind.ts'
import { computeLocal } from '../../derivation/run/compute-local.ts'
import { inputHash } from '../../derivation/hash/input-hash.ts'
import { planComputation } from '../../derivation/hash/plan-computation.ts'
import { withRecords } from '../../derivation/plan/with-records.ts'
import { cellKey, type LastEntry } from '../../files/folio/adopt-folio-log.ts'
import type { FolioHash } from '../../files/folio/folio-hash.ts'
import type { CellResult, WorkItem } from '../../store/cell-work.ts'
import { RecordsPass } from '../../derivation/plan/records-pass.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { RunOrder, RunProgress } from '../../store/stored-run.ts'
import type { Sheet } from '../sheet.ts'

/** A computed cell of a folio sheet. */
export interface FolioCell {
  readonly value: JsonValue
  /** The record as folio has it, of which the inputs are hashed. */
  readonly raw: JsonObject
  readonly last: LastEntry
}

export interface CellAdoption {
  /** The computed cells by {@link cellKey}. */
  readonly cells: ReadonlyMap<string, FolioCell>
  /** The input hashes of folio by derivation file. */
  readonly hashes: ReadonlyMap<string, FolioHash | null>
  /** The cells whose value in folio was set aside, by {@link cellKey}. */
  readonly aside: ReadonlySet<string>
  readonly actor: string
  readonly signal?: AbortSignal | undefined
}

/** The number of records that are read at a time. */
const CHUNK = 256

/**
 * Gives the computed cells of a folio sheet their states and entries, as one run that makes no calls. Their values are in the store, imported as written by hand. A cell is fresh if a local kind
 * computes an equal value now, or, where none computes a value, if the input hash of folio can be computed again, is the same, and is that of the values which the new sheet has; any other cell is
 * stale. Throws the reason of the signal once that aborts.
 */
export async function adoptCells(sheet: Sheet, adoption: CellAdoption): Promise<void> {
  if (adoption.cells.size === 0) return
  const { store, contract, derivations } = await sheet.deriving()
  const id = await store.startRun({ ...orderBy(adoption.actor), silentMs: 6000 })
  const run = localContext(sheet, store, adoption.signal)
  const lock = await store.lockRun(sheet.lockTimeoutMs, sheet.stopping)
  try {
    const manual = [...adoption.cells.values()].filter(({ value }) => value !== null).length
    await store.runLocked(id, { total: adoption.cells.size, absent: [], manual })
    let stored = 0
    for (const derivation of derivations.levels.flat()) {
      const pass = new RecordsPass()
      for await (const items of recordsOf(store, derivation)) {
        adoption.signal?.throwIfAborted()
        const context = { queries: store.queries, pass, signal: run.signal }
        const planned = await withRecords(
          derivation,
          items.map(({ inputs }) => inputs),
          context,
        )
        const results = await resultsOf(items, { derivation: planned, contract, adoption, run })
        if (results.length === 0) continue
        const progress = { skipped: 0, left: 0, calls: 0, totalCost: 0, unpricedCalls: 0 }
        const outcomes = await store.commitCells({
          actor: adoption.actor,
          run: id,
          progress,
          cells: results,
          cache: [],
        })
        for (const outcome of outcomes) {
          if (outcome.outcome !== 'stored')
            throw new Error(`a value of folio was not stored: ${JSON.stringify(outcome)}`)
        }
        stored += results.length
      }
    }
    if (stored !== adoption.cells.size) {
      throw new Error(`${adoption.cells.size} values of folio were to be stored, but ${stored} were`)
    }
    await store.endRun(id, { state: 'finished', error: null, cancelledBy: null, progress: finished(stored) })
  } finally {
    lock.release()
  }
}

/** Yields all records with the cells of a derivation, some at a time. */
export async function* recordsOf(
  store: SheetStore,
  { targets, inputs }: Derivation,
): AsyncGenerator<readonly WorkItem[]> {
  for (let after: number | null = null; ;) {
    const query = { targets, inputs, force: true, state: null, after, limit: CHUNK, only: null }
    const items: readonly WorkItem[] = await store.work(query)
    const last = items.at(-1)
    if (last === undefined) return
    yield items
    after = last.key
  }
}

interface ResultContext {
  readonly run: BatchContext
  readonly derivation: Derivation
  readonly contract: Contract
  readonly adoption: CellAdoption
}

async function resultsOf(items: readonly WorkItem[], context: ResultContext): Promise<CellResult[]> {
  const { derivation, adoption } = context
  const computations = items.flatMap((item) => {
    const known = item.cells.flatMap((cell) => {
      const found = adoption.cells.get(cellKey(item.id, cell.target))
      return found === undefined ? [] : [{ ...cell, ...found }]
    })
    if (known.length === 0) return []
    const planned = planComputation(derivation, item.inputs)
    return [{ item, known, plan: planned.outcome === 'run' ? planned.plan : null }]
  })
  const plans = computations.flatMap(({ plan }) => (plan === null ? [] : [plan]))
  const values = await valuesOf(plans, context)
  return computations.flatMap(({ item, known, plan }) => {
    const computed = plan === null ? undefined : values.get(plan)
    const isAside = (name: string): boolean => adoption.aside.has(cellKey(item.id, name))
    const hasInputs = !derivation.inputs.some(isAside)
    return known.map(({ target, version, value, raw, last }): CellResult => {
      const recorded = last.entry['input_hash'] ?? null
      const folio = adoption.hashes.get(derivation.file)?.(raw) ?? null
      // A value that is computed now is the proof; the hash of folio is one only for values that are here.
      const isSame =
        computed !== undefined && Object.hasOwn(computed, target)
          ? jsonEqual(computed[target], value)
          : folio !== null && folio === recorded && hasInputs && !isAside(target)
      const isFresh = plan !== null && isSame
      return {
        key: item.key,
        target,
        version,
        // The hash of no file: the cell is stale at once.
        sha256: isFresh ? derivation.sha256 : '',
        sources: derivation.sources,
        result: {
          kind: 'computed',
          value,
          inputHash: isFresh ? hashOf(derivation, item.inputs, plan) : staleHash(recorded, last.entry),
          provenance: evidenceOf(last.entry),
        },
      }
    })
  })
}

/** Computes the values of plans of a local kind; those that fail have none, and other kinds compute nothing. */
async function valuesOf(
  plans: readonly Plan[],
  { derivation, contract, run }: ResultContext,
): Promise<ReadonlyMap<Plan, JsonObject>> {
  const { kind, targets } = derivation
  const found = new Map<Plan, JsonObject>()
  if (kind.isLocal !== true) return found
  const results = await computeLocal(derivation, plans, run)
  for (const [index, plan] of plans.entries()) {
    const result = results[index]
    if (result?.ok !== true) continue
    const values = targets.flatMap((target) => {
      const value = Object.hasOwn(result.value.values, target) ? result.value.values[target] : undefined
      const field = contract.fieldByName.get(target)
      return value?.ok === true && field !== undefined
        ? [[target, coerceComputed(field, value.value)] as const]
        : []
    })
    found.set(plan, Object.fromEntries(values))
  }
  return found
}

/** Returns the context of computations that are no calls. */
function localContext(
  sheet: Sheet,
  { formulas }: Pick<SheetStore, 'formulas'>,
  signal: AbortSignal | undefined,
): BatchContext {
  return {
    signal: signal === undefined ? sheet.stopping : AbortSignal.any([sheet.stopping, signal]),
    policies: sheet.policies(),
    limiter: sheet.limiter,
    formulas,
  }
}

function hashOf(derivation: Derivation, inputs: InputValues, plan: Plan | null): string {
  return inputHash({ derivationSha256: derivation.sha256, inputs, hashed: plan?.hashed ?? {} })
}

/** Returns the hash of a stale cell: that of folio, or one that no computation has. */
function staleHash(recorded: JsonValue, entry: JsonObject): string {
  if (typeof recorded === 'string' && /^sha256:[0-9a-f]{64}$/.test(recorded)) return recorded
  return `sha256:${hash('sha256', `folio ${JSON.stringify(entry)}`, 'hex')}`
}

function evidenceOf({ source, at, actor, model, cost_usd: cost }: JsonObject): JsonObject {
  return {
    cached: true,
    adopted_from: 'folio',
    folio_source: source ?? null,
    computed_at: at ?? null,
    computed_by: actor ?? null,
    ...(model === undefined ? {} : { model }),
    ...(cost === undefined ? {} : { cost_usd: cost }),
  }
}

function orderBy(actor: string): RunOrder {
  return {
    kind: 'materialize',
    reverts: null,
    actor,
    targets: null,
    recordIds: null,
    force: false,
    overwriteManual: true,
    only: null,
    limit: null,
    maxCalls: 0,
    maxCost: null,
    reuseResponses: false,
    stopAfterFailures: null,
  }
}

function finished(cells: number): RunProgress {
  return {
    done: cells,
    total: cells,
    materialized: cells,
    skipped: 0,
    failed: 0,
    calls: 0,
    totalCost: 0,
    unpricedCalls: 0,
    left: 0,
    manualLeft: 0,
    manualOverwritten: 0,
  }
}
