import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonValue } from '../../contract/json/json.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import type { Failure } from '../../errors/failure.ts'
import { blockOf, type PendingInput } from '../../errors/block.ts'
import type {
  CacheEntry,
  InputBytes,
  RecordedUsage,
  RecordKey,
  WorkCell,
  WorkFailure,
  WorkItem,
  WorkQuery,
} from '../../store/cell-work.ts'
import type { StoreStatus } from '../../store/sheet-store.ts'
import type { ExpectedCall } from './expected-usage.ts'
import type { Price } from './budget.ts'
import type { Derivation, DerivationStep, Plan } from '../definition/derivation-kind.ts'
import { hashesOfPlan } from '../hash/hash-of-values.ts'
import { planComputation } from '../hash/plan-computation.ts'
import { withRecords } from './with-records.ts'
import { RecordsPass } from './records-pass.ts'
import type { PlanRequest, RunBlock } from '../run-request.ts'
import { stepKey, usageKey } from './usage-key.ts'

/** Records read from the store at a time. */
export const WORK_CHUNK = 256

/** The fewest results of a step from which plans take how often it is accepted. */
const FEWEST_RESULTS = 20

const NONE: ReadonlySet<string> = new Set()

/**
 * The most inputs of a cell. A call is planned in one piece, also in a dry run; with as many that takes the main thread less
 * than 50 ms.
 */
export const INPUT_LIMIT: InputBytes = { text: 1 << 20, json: 256 << 10 }

/** Records of a list that are passed to the store at a time. */
const LIST_CHUNK = 1024

/** The records of a run. */
export interface RunScope {
  /** The number of records that the run covers. */
  readonly total: number
  /** The records to process, ascending; null for all. */
  readonly records: readonly RecordKey[] | null
  /** The key of the last record when the run began. Later records are not part of it; otherwise a run might never end. */
  readonly lastKey: RecordKey
  /** The number of the last provenance entry when the run began: values written by hand later are never overwritten. */
  readonly lastSeq: number
}

/** The plan for one record and one derivation. */
export type ItemPlan =
  | ({ readonly outcome: 'run' } & PlannedItem)
  /** No request is made, because of an input (D22, D32). */
  | { readonly outcome: 'blocked'; readonly block: RunBlock }
  | { readonly outcome: 'skipped' }
  | { readonly outcome: 'failed'; readonly failure: Failure }

/** A call that a record's cells need, unless the cache has its result. */
export interface PlannedItem {
  readonly derivation: Derivation
  readonly item: WorkItem
  readonly plan: Plan
  /** The input hash. */
  readonly hash: string
  /** Cells whose last successful computation had this hash: they keep their value (D25). */
  readonly unchanged: readonly WorkCell[]
  readonly open: readonly WorkCell[]
  /** Cells that failed with the same hash and are not due to be tried again. */
  readonly later: readonly WorkCell[]
}

/** The rules that a run and its dry run share: the cells to compute, and the calls they need. */
export class Planner {
  readonly request: PlanRequest
  readonly scope: RunScope
  readonly #signal: AbortSignal
  readonly #usage = new Map<Derivation, RecordedUsage | null>()
  /** The recorded usage of steps, by their keys. */
  readonly #steps = new Map<string, RecordedUsage | null>()
  /** The derivation with what it takes from other records, by the inputs of the record. */
  readonly #looked = new WeakMap<WorkItem['inputs'], Derivation>()

  constructor(request: PlanRequest, scope: RunScope, signal: AbortSignal = request.signal) {
    this.request = request
    this.scope = scope
    this.#signal = signal
  }

  /** The derivations of which the run computes cells, each after those it depends on. */
  get derivations(): Derivation[] {
    return this.request.levels.flat().filter((derivation) => this.targets(derivation).length > 0)
  }

  /** The targets of a derivation that the run computes. */
  targets(derivation: Derivation): string[] {
    return derivation.targets.filter((target) => this.request.targets.has(target))
  }

  /**
   * Yields the records with cells to compute, ascending, in chunks, from the present state of the store; records whose cells are blocked
   * only with `ready: false`; `plans` for records that are planned then. Between chunks, other work of the event loop runs. Throws the signal's reason once it aborts.
   */
  async *work(
    derivation: Derivation,
    { ready, plans = false }: { readonly ready: boolean; readonly plans?: boolean },
  ): AsyncGenerator<readonly WorkItem[]> {
    const { only } = this.request
    const work = this.#read(derivation, { force: this.takesAll, state: only, ready }, this.scope.records)
    const looks = plans ? this.#lookOf(derivation) : null
    if (looks === null) {
      yield* work
      return
    }
    // The query runs for the next records while these are computed.
    let before: { readonly items: readonly WorkItem[]; readonly looked: Promise<void> } | null = null
    for await (const items of work) {
      const looked = looks(items)
      looked.catch(() => undefined)
      if (before !== null) {
        await before.looked
        yield before.items
      }
      before = { items, looked }
    }
    if (before === null) return
    await before.looked
    yield before.items
  }

  /** Returns a function that reads what the derivation takes from other records for these; null for one that takes nothing. */
  #lookOf(derivation: Derivation): ((items: readonly WorkItem[]) => Promise<void>) | null {
    const { kind, reads } = derivation
    const { queries } = this.request.store
    if (kind.withRecords === undefined || reads === null || queries === undefined) return null
    const pass = new RecordsPass()
    return async (items) => {
      const looked = items.filter(
        (item) => item.tooLong === undefined && this.block(derivation, item) === null,
      )
      if (looked.length === 0) return
      const of = await withRecords(
        derivation,
        looked.map(({ inputs }) => inputs),
        {
          queries,
          pass,
          signal: this.#signal,
        },
      )
      for (const { inputs } of looked) this.#looked.set(inputs, of)
    }
  }

  /** Yields these records, null for all, ascending, whether or not they have pending cells; like {@link work}. */
  every(derivation: Derivation, records: readonly RecordKey[] | null): AsyncGenerator<readonly WorkItem[]> {
    return this.#read(derivation, { force: true, state: null, ready: false }, records)
  }

  async *#read(
    derivation: Derivation,
    which: Pick<WorkQuery, 'force' | 'state' | 'ready'>,
    records: readonly RecordKey[] | null,
  ): AsyncGenerator<readonly WorkItem[]> {
    const targets = this.targets(derivation)
    if (targets.length === 0) return
    const { inputs } = derivation
    const failures = derivation.retryFailedAfterMs !== null || this.request.limit !== null
    for (const only of inPieces(records)) {
      for (let after: RecordKey | null = null; ;) {
        const query = {
          ...which,
          failures,
          targets,
          inputs,
          inputLimit: INPUT_LIMIT,
          after,
          limit: WORK_CHUNK,
          only,
        }
        const items: readonly WorkItem[] = await this.request.store.work(query)
        await nextTurn()
        this.#signal.throwIfAborted()
        const last = items.at(-1)
        if (last === undefined) break
        const wanted =
          last.key > this.scope.lastKey ? items.filter(({ key }) => key <= this.scope.lastKey) : items
        yield await this.#withoutNewCorrections(wanted)
        after = last.key
        this.#signal.throwIfAborted()
      }
    }
  }

  /** Removes cells that were written by hand after the run began (D28), even if the run overwrites such values. */
  async #withoutNewCorrections(items: readonly WorkItem[]): Promise<readonly WorkItem[]> {
    const { lastSeq } = this.scope
    const { store } = this.request
    const kept: WorkItem[] = []
    for (const item of items) {
      const touched = item.cells.filter((cell) => this.#overwrites(cell) && (cell.touchedBy ?? 0) > lastSeq)
      const corrected = new Set<WorkCell>()
      for (const cell of touched) {
        const latest = await store.provenance(item.id, cell.target, 1)
        if (Number(latest?.entries[0]?.['seq']) > lastSeq) corrected.add(cell)
      }
      kept.push(
        corrected.size === 0 ? item : { ...item, cells: item.cells.filter((cell) => !corrected.has(cell)) },
      )
    }
    return kept
  }

  /** Returns the cells of a record that the run computes, by their state. */
  cells({ cells }: WorkItem): WorkCell[] {
    const { force, only } = this.request
    if (only !== null) return cells.filter(({ state }) => state === only)
    return cells.filter((cell) =>
      cell.state === 'overridden' ? this.#overwrites(cell) : force || cell.state !== 'fresh',
    )
  }

  /** Whether the run computes a cell that was written by hand. */
  #overwrites({ state, target }: WorkCell): boolean {
    return state === 'overridden' && this.takesAll && this.request.overwritable.has(target)
  }

  /**
   * Returns the cells of a record that the run may compute once their inputs have been computed. That makes fresh cells stale and changes
   * no other state: with `only` set to `missing` or `failed` fresh cells are not part of the run, with `stale` they are.
   */
  cellsInTime(item: WorkItem): WorkCell[] {
    const { only } = this.request
    if (this.takesAll || only === 'missing' || only === 'failed') return this.cells(item)
    const takes = (state: WorkCell['state']): boolean =>
      only === null ? state !== 'overridden' : state === 'fresh' || state === only
    return item.cells.filter(({ state }) => takes(state))
  }

  /** Whether the run covers all cells of its records, whatever their states, except values written by hand that it must not overwrite. */
  get takesAll(): boolean {
    const { force, only } = this.request
    return force && only === null
  }

  /**
   * Whether a cell with this input hash must not use a result from before the run: with `force`, and in a run over failed cells if its last
   * success had the same hash. Such a cell failed in a forced run and is to be tried again.
   */
  asksAnew({ inputHash: last }: WorkCell, hash: string): boolean {
    const { force, only } = this.request
    return force || (only === 'failed' && last === hash)
  }

  /** Returns the reason why the run does not compute cells of a record; null for none. `open` are the inputs that it computes before. */
  block(derivation: Derivation, item: WorkItem, open: ReadonlySet<string> = NONE): RunBlock | null {
    const { inputs, requiredInputs: required, nonEmptyInputs: nonEmpty } = derivation
    const pending = (field: string): PendingInput | undefined =>
      open.has(field) ? 'missing' : item.pending[field]
    const block = blockOf(
      { inputs, required, nonEmpty },
      {
        value: (field) => item.inputs[field],
        pending: (field) => (pending(field) === 'stale' ? undefined : pending(field)),
      },
    )
    if (block !== null) return block
    const missing = inputs.find((field) => item.pending[field] === 'missing' && !open.has(field))
    return missing === undefined ? null : { reason: 'input_missing', field: missing }
  }

  /** Plans the computation of these cells of a record. */
  plan(of: Derivation, item: WorkItem, cells: readonly WorkCell[]): ItemPlan {
    const derivation = this.#looked.get(item.inputs) ?? of
    const block = this.block(derivation, item)
    if (block !== null) return { outcome: 'blocked', block }
    if (item.tooLong !== undefined) {
      return { outcome: 'failed', failure: tooLongInputs(derivation, item.tooLong) }
    }
    const planned = planComputation(derivation, item.inputs)
    if (planned.outcome === 'blocked') {
      return { outcome: 'blocked', block: { reason: 'input_empty', field: planned.field } }
    }
    if (planned.outcome !== 'run') return planned
    const { plan } = planned
    const { whole: hash, valid } = hashesOfPlan(derivation, plan, item.inputs)
    const unchanged: WorkCell[] = []
    const open: WorkCell[] = []
    const later: WorkCell[] = []
    for (const cell of cells) {
      const isOfPlan = cell.inputHash !== null && valid.includes(cell.inputHash)
      const { force, only } = this.request
      if (isOfPlan && !force && only !== 'failed') unchanged.push(cell)
      else (this.#isLater(derivation, cell, hash) ? later : open).push(cell)
    }
    return { outcome: 'run', derivation, item, plan, hash, unchanged, open, later }
  }

  #isLater(derivation: Derivation, { failure }: WorkCell, hash: string): boolean {
    const { force, only, now } = this.request
    if (force || only === 'failed' || failure?.inputHash !== hash) return false
    return (retryTime(derivation, failure) ?? 0) > now
  }

  /** Returns the cache entries of these input hashes. */
  cached(hashes: readonly string[]): Promise<ReadonlyMap<string, CacheEntry>> {
    return this.request.store.cached(hashes)
  }

  /** Returns the cached value of a target, unless the present contract rejects it. */
  cachedValue(entry: CacheEntry | undefined, target: string): JsonValue | undefined {
    if (entry === undefined || !Object.hasOwn(entry.values, target)) return undefined
    const value = entry.values[target] ?? null
    const field = this.request.contract.fieldByName.get(target)
    return field !== undefined && valueError(field, value) === null ? value : undefined
  }

  /** Returns the key of the request of a plan; null for a kind whose responses are not kept. */
  requestKey({ derivation: { kind, spec }, plan }: Pick<PlannedItem, 'derivation' | 'plan'>): string | null {
    return kind.responses?.requestKey(spec, plan) ?? null
  }

  /** Returns the dollars that are reserved for a computation; null for an unknown price. */
  price({ derivation, plan }: Pick<PlannedItem, 'derivation' | 'plan'>): Price {
    return derivation.kind.estimate(plan, this.request.policies)
  }

  /** Reads what computations of a derivation have used, for {@link expected}. */
  async readUsage(derivation: Derivation): Promise<void> {
    const { kind, spec } = derivation
    for (const step of kind.stepsOfFile?.(spec) ?? []) {
      await this.readUsage(step.derivation)
      this.#steps.set(nameOf(step), await this.request.store.usage(stepKey(step)))
    }
    if (kind.expected === undefined) return
    this.#usage.set(derivation, await this.request.store.usage(usageKey(derivation)))
  }

  /** Returns the number of recorded results of a derivation's steps. */
  resultsOfSteps({ kind, spec }: Derivation): number {
    const steps = kind.stepsOfFile?.(spec) ?? []
    return steps.reduce((sum, step) => sum + (this.#steps.get(nameOf(step))?.results ?? 0), 0)
  }

  /** Returns the recorded share of results of a step that were accepted; null if too few are recorded. */
  hitRate(step: DerivationStep): { readonly rate: number; readonly results: number } | null {
    const recorded = this.#steps.get(nameOf(step)) ?? null
    if (recorded === null || recorded.results < FEWEST_RESULTS) return null
    return { rate: (recorded.amounts['accepted'] ?? 0) / recorded.results, results: recorded.results }
  }

  /** Returns what a call is expected to use, for dry runs. */
  expected(call: Pick<PlannedItem, 'derivation' | 'plan'>): ExpectedCall {
    const { derivation, plan } = call
    const { kind, spec } = derivation
    const tokens = kind.expected?.(spec, plan, this.#usage.get(derivation) ?? null) ?? null
    return { price: this.price(call), tokens }
  }

  /**
   * Returns how many of a run's cells of a derivation certainly need no computation, by the state of the store when the derivation begins.
   * Only an edit during the run can change that.
   */
  idleCells(derivation: Derivation, status: StoreStatus): number {
    const targets = this.targets(derivation)
    const { records, total, lastKey } = this.scope
    if (records !== null) return (total - records.length) * targets.length
    // Keys are ascending numbers, so at most this many records are newer than the run.
    const newer = status.lastKey - lastKey
    return targets.reduce((sum, target) => {
      const counts = status.targets.find(({ field }) => field === target)
      return sum + Math.max(0, Math.min(total, counts === undefined ? 0 : this.#idle(counts)) - newer)
    }, 0)
  }

  #idle(counts: StoreStatus['targets'][number]): number {
    const { force, only } = this.request
    const { fresh, overridden, missing, stale, failed, blocked } = counts
    if (only !== null) return fresh + overridden + missing + stale + failed - counts[only]
    if (!force) return fresh + overridden + blocked
    return this.request.overwritable.has(counts.field) ? 0 : overridden
  }
}

/**
 * Returns the time at which a failed cell is tried again, in milliseconds since 1970, Infinity for never; null if the next run tries it. If
 * its input hash has changed since the failure, the cell is due at once.
 */
export function retryTime(
  { retryFailedAfterMs }: Pick<Derivation, 'retryFailedAfterMs'>,
  { at }: Pick<WorkFailure, 'at'>,
): number | null {
  return retryFailedAfterMs === null ? null : Date.parse(at) + retryFailedAfterMs
}

/** Identifies a step within a run. */
function nameOf({ derivation, condition }: DerivationStep): string {
  return `${derivation.sha256} ${condition ?? ''}`
}

function tooLongInputs({ file, inputs }: Derivation, { text, json }: InputBytes): Failure {
  const kib = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`
  const [what, bytes, limit] =
    text > INPUT_LIMIT.text
      ? ['texts', text, INPUT_LIMIT.text]
      : ['arrays and objects', json, INPUT_LIMIT.json]
  return {
    reason: 'unusable_input',
    request: file,
    detail: `the ${what} among its inputs (${inputs.join(', ')}) have ${kib(bytes)}; they may have ${kib(limit)}`,
  }
}

function* inPieces(records: readonly RecordKey[] | null): Generator<readonly RecordKey[] | null> {
  if (records === null || records.length <= LIST_CHUNK) {
    yield records
    return
  }
  for (let start = 0; start < records.length; start += LIST_CHUNK)
    yield records.slice(start, start + LIST_CHUNK)
}
