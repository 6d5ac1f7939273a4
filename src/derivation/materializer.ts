import type { Contract } from '../contract/contract.ts'
import type { JsonObject, JsonValue } from '../contract/json.ts'
import { coerceComputed, faultOf } from '../contract/validate-value.ts'
import { renderFailure, type Failure, type RenderedFailure } from '../errors/failure.ts'
import { err, ok, type Result } from '../errors/result.ts'
import type {
  CacheEntry,
  CellOutcome,
  CellResult,
  RecordKey,
  SheetStore,
  StoreStatus,
  WorkCell,
  WorkItem,
} from '../store/sheet-store.ts'
import { CommitQueue } from './commit-queue.ts'
import type { Computed, Derivation, Plan } from './derivation-kind.ts'
import { inputHash } from './input-hash.ts'

/** Records planned or under way at a time for a derivation; how many calls that makes is the transport's to bound. */
const WINDOW = 64

/** Records read from the store at a time. */
const WORK_CHUNK = 256

/** What the materializer needs of a store. */
export type RunStore = Pick<SheetStore, 'status' | 'work' | 'cached' | 'commitCells'>

export interface RunRequest {
  readonly contract: Contract
  /** Derivations in levels, each after those it depends on. */
  readonly levels: readonly (readonly Derivation[])[]
  /** The target fields to compute. */
  readonly targets: ReadonlySet<string>
  /** The records to compute, ascending; null for all. */
  readonly only: readonly RecordKey[] | null
  readonly force: boolean
  readonly actor: string
  readonly store: RunStore
  /** Stops the run: no new call starts, calls under way are aborted, what is stored stays. */
  readonly signal: AbortSignal
}

export interface CellFailure extends RenderedFailure {
  readonly recordId: string
  readonly field: string
}

/** What a run came to, in cells. */
export interface RunOutcome {
  readonly materialized: number
  readonly skipped: number
  readonly failures: readonly CellFailure[]
}

/**
 * Runs derivations over the records that exist when it starts, level by level (D27), and stores results as they come
 * (D30). Knows no kind. Rejects with the signal's reason when it is aborted.
 */
export async function runDerivations(request: RunRequest): Promise<RunOutcome> {
  const run = new Run(request, await request.store.status())
  for (const level of request.levels) {
    await Promise.all(level.map((derivation) => run.derive(derivation)))
    run.throwIfStopped()
  }
  return run.outcome()
}

/**
 * Whether a run with this request would have a derivation call somebody (D23); stops at the first cell that would.
 * Where the run would first compute something that the derivation's inputs come from, that counts as a call.
 */
export async function wouldCall(request: RunRequest, derivation: Derivation): Promise<boolean> {
  const run = new Run(request, await request.store.status())
  for (const source of computedBefore(request, derivation)) if (await run.hasChanges(source)) return true
  return run.hasCalls(derivation)
}

/** The derivations of a run whose targets are, at one remove or more, inputs of this one. */
function computedBefore({ levels, targets }: RunRequest, derivation: Derivation): Derivation[] {
  const needed = new Set(derivation.inputs)
  return levels
    .flat()
    .toReversed()
    .filter((source) => {
      if (!source.targets.some((target) => targets.has(target) && needed.has(target))) return false
      for (const input of source.inputs) needed.add(input)
      return true
    })
}

/** What one input hash comes to in this run: what the cache has for it and, once somebody needs it, a call. */
interface Answer {
  readonly entry: Promise<CacheEntry | undefined>
  call: Promise<CallOutcome> | null
  /** Records that wait for it or whose cells are not stored yet. */
  users: number
}

/** The values of a finished call, each checked against the contract, or why a target has none. */
interface CallOutcome {
  readonly values: { readonly [target: string]: Result<JsonValue, Failure> }
  readonly provenance: JsonObject
}

interface PlannedItem {
  readonly derivation: Derivation
  readonly item: WorkItem
  readonly plan: Plan
  readonly hash: string
}

class Run {
  readonly #request: RunRequest
  readonly #commits: CommitQueue
  /** Answers in use, and those whose call failed: equal hashes cause one call (D25). */
  readonly #answers = new Map<string, Answer>()
  /** With force, hashes whose answer of this run is in the cache. */
  readonly #refreshed = new Set<string>()
  /** Cells that failed in this run, or were skipped since an input did, by field (D27). */
  readonly #failedCells = new Map<string, Set<RecordKey>>()
  readonly #failures: CellFailure[] = []
  /** How many cells the run is about. */
  readonly #cells: number
  /** No record that came after the run began is part of it, or a run might never end. */
  readonly #lastKey: RecordKey
  #materialized = 0
  readonly #breaking = new AbortController()
  /** Aborted when the run is stopped or breaks: no new call starts, calls under way are aborted. */
  readonly #signal: AbortSignal
  /** What broke the run, if anything did. */
  #fault: { readonly error: unknown } | null = null

  constructor(request: RunRequest, { total, lastKey }: Pick<StoreStatus, 'total' | 'lastKey'>) {
    this.#request = request
    this.#commits = new CommitQueue(request.store, request.actor)
    this.#cells = (request.only?.length ?? total) * request.targets.size
    this.#lastKey = lastKey
    this.#signal = AbortSignal.any([request.signal, this.#breaking.signal])
  }

  outcome(): RunOutcome {
    const skipped = this.#cells - this.#materialized - this.#failures.length
    return { materialized: this.#materialized, skipped, failures: this.#failures }
  }

  /** Computes the cells of one derivation. Settles, without rejecting, when nothing is under way for it any more. */
  async derive(derivation: Derivation): Promise<void> {
    const underWay = new Set<Promise<void>>()
    try {
      for await (const item of this.#work(derivation)) {
        const done: Promise<void> = this.#compute(derivation, item)
          .catch((error: unknown) => this.#break(error))
          .finally(() => underWay.delete(done))
        underWay.add(done)
        if (underWay.size >= WINDOW) await Promise.race(underWay)
      }
    } catch (error) {
      this.#break(error)
    }
    await Promise.all(underWay)
  }

  #break(error: unknown): void {
    this.#fault ??= { error }
    this.#breaking.abort(error)
  }

  /** Throws what broke or stopped the run, if anything did. */
  throwIfStopped(): void {
    if (this.#fault !== null) throw this.#fault.error
    this.#request.signal.throwIfAborted()
  }

  /** Whether some cell of the derivation would be computed, by a call or from the cache. */
  async hasChanges(derivation: Derivation): Promise<boolean> {
    for await (const { open } of this.#openCells(derivation)) if (open.length > 0) return true
    return false
  }

  /** Whether some cell of the derivation would be computed by a call. */
  async hasCalls(derivation: Derivation): Promise<boolean> {
    for await (const { open, hash } of this.#openCells(derivation)) {
      if (this.#request.force && open.length > 0) return true
      const entry = await this.#cacheEntry(hash)
      if (open.some(({ target }) => this.#cachedValue(entry, target) === undefined)) return true
    }
    return false
  }

  async *#openCells(derivation: Derivation): AsyncGenerator<{ open: readonly WorkCell[]; hash: string }> {
    for await (const item of this.#work(derivation)) {
      const planned = this.#plan(derivation, item)
      if (planned.outcome !== 'run') continue
      const { hash } = planned
      const open = this.#cellsToCompute(item).filter((cell) => !this.#isUnchanged(cell, hash))
      yield { open, hash }
    }
  }

  /** Whether a cell's last successful computation had this hash, and so stands (D25). */
  #isUnchanged(cell: WorkCell, hash: string): boolean {
    return !this.#request.force && cell.inputHash === hash
  }

  #selected(derivation: Derivation): string[] {
    return derivation.targets.filter((target) => this.#request.targets.has(target))
  }

  async *#work(derivation: Derivation): AsyncGenerator<WorkItem> {
    const { force, only, store } = this.#request
    const targets = this.#selected(derivation)
    if (targets.length === 0) return
    const { inputs } = derivation
    for (let after: RecordKey | null = null; ;) {
      const items: readonly WorkItem[] = await store.work({
        targets,
        inputs,
        force,
        after,
        limit: WORK_CHUNK,
        only,
      })
      for (const item of items) {
        if (this.#signal.aborted || item.key > this.#lastKey) return
        yield item
      }
      const last = items.at(-1)
      if (last === undefined) return
      after = last.key
    }
  }

  #cellsToCompute(item: WorkItem): WorkCell[] {
    const { force } = this.#request
    return item.cells.filter(
      ({ state }) => force || state === 'missing' || state === 'stale' || state === 'failed',
    )
  }

  #plan(derivation: Derivation, item: WorkItem): { outcome: 'run'; plan: Plan; hash: string } | PlanStop {
    const planned = derivation.kind.plan(derivation.spec, item.inputs)
    if (planned.outcome !== 'run') return planned
    const { plan } = planned
    const hash = inputHash({ derivationSha256: derivation.sha256, inputs: item.inputs, ...plan.hashed })
    return { outcome: 'run', plan, hash }
  }

  async #compute(derivation: Derivation, item: WorkItem): Promise<void> {
    const cells = this.#cellsToCompute(item)
    if (derivation.inputs.some((input) => this.#failedCells.get(input)?.has(item.key))) {
      for (const { target } of cells) this.#noteFailed(target, item.key)
      return
    }
    const planned = this.#plan(derivation, item)
    switch (planned.outcome) {
      case 'blocked':
        return
      case 'failed':
        return this.#store(
          { derivation, item },
          cells.map((cell) => ({ cell, result: err(planned.failure) })),
        )
      case 'run':
        return this.#computePlanned({ derivation, item, ...planned }, cells)
    }
  }

  async #computePlanned(planned: PlannedItem, cells: readonly WorkCell[]): Promise<void> {
    const unchanged = cells.filter((cell) => this.#isUnchanged(cell, planned.hash))
    const open = cells.filter((cell) => !unchanged.includes(cell))
    await this.#store(
      planned,
      unchanged.map((cell) => ({ cell, result: 'unchanged' as const })),
    )
    if (open.length > 0) await this.#answerCells(planned, open)
  }

  async #answerCells(planned: PlannedItem, cells: readonly WorkCell[]): Promise<void> {
    const { hash } = planned
    const answer = this.#answers.get(hash) ?? this.#newAnswer(hash)
    answer.users += 1
    const entry = await answer.entry
    const fromCache = cells.flatMap((cell): ComputedCell[] => {
      const value = this.#cachedValue(entry, cell.target)
      return value === undefined
        ? []
        : [{ cell, result: ok(value), provenance: { cached: true, ...entry?.provenance } }]
    })
    await this.#store(planned, fromCache)
    const open = cells.filter(({ target }) => this.#cachedValue(entry, target) === undefined)
    if (open.length > 0) await this.#call(planned, answer, open)
    answer.users -= 1
    if (answer.users === 0) await this.#letGo(hash, answer)
  }

  #newAnswer(hash: string): Answer {
    const fresh = this.#request.force && !this.#refreshed.has(hash)
    const answer: Answer = {
      entry: fresh ? Promise.resolve(undefined) : this.#cacheEntry(hash),
      call: null,
      users: 0,
    }
    this.#answers.set(hash, answer)
    return answer
  }

  /** Forgets an answer that the cache has now; one with a failure is kept, so that nobody calls again. */
  async #letGo(hash: string, answer: Answer): Promise<void> {
    const outcome = await answer.call
    if (outcome !== null && Object.values(outcome.values).some((result) => !result.ok)) return
    this.#answers.delete(hash)
    if (this.#request.force) this.#refreshed.add(hash)
  }

  async #cacheEntry(hash: string): Promise<CacheEntry | undefined> {
    return (await this.#request.store.cached([hash])).get(hash)
  }

  /** The cached value of a target, unless the contract has come to hold something against it. */
  #cachedValue(entry: CacheEntry | undefined, target: string): JsonValue | undefined {
    if (entry === undefined || !Object.hasOwn(entry.values, target)) return undefined
    const value = entry.values[target] ?? null
    const field = this.#request.contract.fieldByName.get(target)
    return field !== undefined && faultOf(field, value) === null ? value : undefined
  }

  /** Computes cells by the call of an answer, which the first who needs it makes. */
  async #call(planned: PlannedItem, answer: Answer, cells: readonly WorkCell[]): Promise<void> {
    const first = answer.call === null
    answer.call ??= this.#startCall(planned)
    const { values, provenance } = await answer.call
    if (this.#signal.aborted) return
    const results = cells.map((cell): ComputedCell => {
      const result = values[cell.target] ?? err(missingTarget(planned))
      return { cell, result, provenance: { cached: !first, ...provenance } }
    })
    await this.#store(planned, results, first ? cacheEntries(planned.hash, { values, provenance }) : [])
  }

  async #startCall(planned: PlannedItem): Promise<CallOutcome> {
    const { kind, spec } = planned.derivation
    return this.#check(planned, await kind.run(spec, planned.plan, { signal: this.#signal }))
  }

  /** Holds an answer against the contract (D26). */
  #check({ derivation, plan }: PlannedItem, result: Result<Computed, Failure>): CallOutcome {
    if (!result.ok) {
      return {
        values: Object.fromEntries(derivation.targets.map((target) => [target, result])),
        provenance: {},
      }
    }
    const values = Object.entries(result.value.values).map(([target, value]) => {
      const field = this.#request.contract.fieldByName.get(target)
      if (!value.ok || field === undefined) return [target, value] as const
      const coerced = coerceComputed(field, value.value)
      const detail = lostDigits(value.value) ?? faultOf(field, coerced)
      return [target, detail === null ? ok(coerced) : err(contractFailure(plan, field.name, detail))] as const
    })
    return { values: Object.fromEntries(values), provenance: result.value.provenance }
  }

  /** Stores what cells of one record came to and counts it. */
  async #store(
    of: { derivation: Derivation; item: WorkItem; plan?: Plan; hash?: string },
    cells: readonly ComputedCell[],
    cache: readonly CacheEntry[] = [],
  ): Promise<void> {
    if (cells.length === 0 && cache.length === 0) return
    const results = cells.map((cell) => cellResult(of, cell))
    const outcomes = await this.#commits.add(results, cache)
    const refused: ComputedCell[] = []
    cells.forEach((cell, index) => {
      const outcome = outcomes[index] as CellOutcome
      if (outcome.outcome === 'superseded') return
      if (outcome.outcome === 'refused' && of.plan !== undefined) {
        refused.push({
          cell: cell.cell,
          result: err(contractFailure(of.plan, cell.cell.target, outcome.detail)),
        })
        return
      }
      this.#count(of.item, cell)
    })
    await this.#store(of, refused)
  }

  #count(item: WorkItem, { cell, result }: ComputedCell): void {
    if (result === 'unchanged') return
    if (result.ok) {
      this.#materialized += 1
      return
    }
    this.#failures.push({ recordId: item.id, field: cell.target, ...renderFailure(result.error) })
    this.#noteFailed(cell.target, item.key)
  }

  #noteFailed(field: string, record: RecordKey): void {
    const failed = this.#failedCells.get(field) ?? new Set()
    this.#failedCells.set(field, failed.add(record))
  }
}

type PlanStop = Exclude<ReturnType<Derivation['kind']['plan']>, { outcome: 'run' }>

/** What a cell came to; `unchanged` when its last success had the same hash. */
interface ComputedCell {
  readonly cell: WorkCell
  readonly result: Result<JsonValue, Failure> | 'unchanged'
  readonly provenance?: JsonObject
}

function cellResult(
  { derivation, item, plan, hash }: { derivation: Derivation; item: WorkItem; plan?: Plan; hash?: string },
  { cell, result, provenance }: ComputedCell,
): CellResult {
  const common = { key: item.key, target: cell.target, mark: cell.mark, sha256: derivation.sha256 }
  if (result === 'unchanged') return { ...common, result: { kind: 'unchanged' } }
  if (!result.ok) {
    const { error, error_type: errorType } = renderFailure(result.error)
    return { ...common, result: { kind: 'failed', error, errorType } }
  }
  const { cached = false, ...after } = provenance ?? {}
  const said = { cached, ...plan?.provenance, ...after }
  return {
    ...common,
    result: { kind: 'computed', value: result.value, inputHash: hash ?? '', provenance: said },
  }
}

/** What of a call goes into the cache: values that the contract has nothing against. */
function cacheEntries(hash: string, { values, provenance }: CallOutcome): CacheEntry[] {
  const good = Object.entries(values).flatMap(([target, result]) =>
    result.ok ? [[target, result.value] as const] : [],
  )
  return good.length === 0 ? [] : [{ inputHash: hash, values: Object.fromEntries(good), provenance }]
}

/** Integers that JSON parsing has rounded must not be stored as if they were what was sent, least of all as text. */
function lostDigits(value: JsonValue): string | null {
  const lost =
    typeof value === 'number' &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    Math.abs(value) < 1e21
  return lost
    ? `the integer ${value} is beyond ±(2^53−1), so its last digits are lost; have it sent as a string`
    : null
}

function contractFailure(plan: Plan, field: string, detail: string): Failure {
  return { reason: 'contract', request: plan.request, detail: `field "${field}": ${detail}` }
}

function missingTarget({ plan }: PlannedItem): Failure {
  return { reason: 'network', request: plan.request, detail: 'the answer has nothing for this field' }
}
