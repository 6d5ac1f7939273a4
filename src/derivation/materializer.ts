import type { Contract } from '../contract/contract.ts'
import { renderFailure, type Failure, type RenderedFailure } from '../errors/failure.ts'
import { err, ok } from '../errors/result.ts'
import type {
  CacheEntry,
  CellOutcome,
  RecordKey,
  SheetStore,
  StoreStatus,
  WorkCell,
  WorkItem,
} from '../store/sheet-store.ts'
import { Answers, cacheEntries, contractFailure, type Answer, type PlannedCall } from './answers.ts'
import { cellResult, type ComputedCell, type ItemOfRun } from './cell-result.ts'
import { CommitQueue } from './commit-queue.ts'
import type { Derivation, Plan } from './derivation-kind.ts'
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

type PlannedItem = PlannedCall & Pick<ItemOfRun, 'item'>

class Run {
  readonly #request: RunRequest
  readonly #commits: CommitQueue
  readonly #answers: Answers
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
    this.#answers = new Answers(request)
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
      const entry = await this.#answers.cacheEntry(hash)
      if (open.some(({ target }) => this.#answers.cachedValue(entry, target) === undefined)) return true
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
    const answer = this.#answers.take(planned.hash)
    const entry = await answer.entry
    const cached = cells.map((cell) => ({ cell, value: this.#answers.cachedValue(entry, cell.target) }))
    await this.#store(
      planned,
      cached.flatMap(({ cell, value }) =>
        value === undefined
          ? []
          : [{ cell, result: ok(value), provenance: { cached: true, ...entry?.provenance } }],
      ),
    )
    const open = cached.flatMap(({ cell, value }) => (value === undefined ? [cell] : []))
    if (open.length > 0) await this.#call(planned, answer, open)
    await this.#answers.letGo(planned.hash, answer)
  }

  async #call(planned: PlannedItem, answer: Answer, cells: readonly WorkCell[]): Promise<void> {
    const { outcome, first } = await this.#answers.call(answer, planned, this.#signal)
    if (this.#signal.aborted) return
    const results = cells.map((cell): ComputedCell => {
      const result = outcome.values[cell.target] ?? err(missingTarget(planned.plan))
      return { cell, result, provenance: { cached: !first, ...outcome.provenance } }
    })
    await this.#store(planned, results, first ? cacheEntries(planned.hash, outcome) : [])
  }

  /** Stores what cells of one record came to and counts it. */
  async #store(
    of: ItemOfRun,
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

function missingTarget(plan: Plan): Failure {
  return { reason: 'network', request: plan.request, detail: 'the answer has nothing for this field' }
}
