import type { JsonValue } from '../../contract/json/json.ts'
import type { Failure } from '../../errors/failure.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import type { CellOutcome, WorkCell, WorkItem } from '../../store/cell-work.ts'
import { makesCalls, type Derivation, type StepResult } from '../definition/derivation-kind.ts'
import type { PlannedItem } from '../plan/planner.ts'
import { beginCall, noteOutcome } from './begin-call.ts'
import { callBehind, countOfStep, NO_CALL, type CallBehind } from './call-behind.ts'
import { contractFailure, outcomeOfResult, type CallOutcome } from './call-outcome.ts'
import { Answers, type Answer } from './call-results.ts'
import { resultOfRun, type ComputedCell, type ItemOfRun } from './cell-result.ts'
import { computeLocal } from './compute-local.ts'
import { UnderWay } from './concurrency-limit.ts'
import type { PartsOfRun } from './parts-of-run.ts'
import { Steps } from './steps.ts'
import { StillWanted } from './still-wanted.ts'

/** Records planned or under way at a time for a derivation, at least; how many calls that makes is the transport's to bound. */
const WINDOW = 512

/** Pages of records that are computed or stored at a time for a local kind: while some are stored, the next accumulate for one transaction. */
const LOCAL_WINDOW = 8

/** So long after it was planned a call is made without another look at the cells that it is for. */
export const FRESH_MS = 250

/** A record whose cells cannot be computed, or are skipped. */
interface KnownItem {
  readonly outcome: 'known'
  readonly item: WorkItem
  readonly cells: readonly WorkCell[]
  readonly result: ComputedCell['result']
}

/** The results of cells of a record. */
interface ComputedRecord {
  readonly of: ItemOfRun
  readonly cells: readonly ComputedCell[]
}

/** A record of which something is to be stored. */
type ItemToDo =
  KnownItem | { readonly outcome: 'run'; readonly planned: PlannedItem; readonly answer: Answer | null }

/**
 * Computes the cells of one derivation. What is called for, and in which order calls begin, is decided record by record
 * in ascending order, as {@link DryRun} foresees it; then each takes its time.
 */
export class DerivationRun {
  readonly #derivation: Derivation
  readonly #parts: PartsOfRun
  readonly #answers: Answers
  readonly #underWay: UnderWay
  readonly #stillWanted: StillWanted
  /** Carries out the steps of computations; null for a kind without steps. */
  readonly #steps: Steps | null
  /** The reason why nothing is called; null if calls are made. */
  readonly #refusal: string | null
  readonly #isLocal: boolean
  #listed = 0

  constructor(derivation: Derivation, parts: PartsOfRun) {
    const { contract, force, only, policies } = parts.planner.request
    const { calls, reuse } = parts
    this.#derivation = derivation
    this.#parts = parts
    this.#isLocal = derivation.kind.isLocal === true
    this.#refusal = derivation.refusal
    this.#answers = new Answers({
      contract,
      validates: true,
      usesCache: !force,
      asksAnew: force || only === 'failed',
      cached: (hashes) => parts.planner.cached(hashes),
      ...(calls !== undefined && { calls }),
      ...(reuse !== undefined && { reuse }),
    })
    this.#stillWanted = new StillWanted((records) => parts.planner.every(derivation, records))
    this.#steps = derivation.kind.stepsOf === undefined ? null : new Steps(parts)
    // Records whose results are being stored take room too.
    this.#underWay = new UnderWay(
      this.#isLocal ? LOCAL_WINDOW : Math.max(WINDOW, 2 * policies.maxConcurrency),
    )
  }

  /** Settles, without rejecting, when nothing is under way any more; with how many cells were looked at. */
  async run(): Promise<number> {
    const { planner, onFault } = this.#parts
    try {
      for await (const items of planner.work(this.#derivation, { ready: true, plans: true })) {
        if (this.#parts.streak.stopped !== null) break
        await this.#startAll(await this.#unsettled(items))
      }
    } catch (error) {
      onFault(error)
    }
    await this.#underWay.none()
    return this.#listed
  }

  /** Leaves out cells that the run has settled before. */
  async #unsettled(items: readonly WorkItem[]): Promise<readonly WorkItem[]> {
    const settled = (await this.#parts.settled?.(items)) ?? null
    if (settled === null || settled.size === 0) return items
    return items.flatMap((item) => {
      const cells = item.cells.filter(({ target }) => settled.get(item.key)?.has(target) !== true)
      return cells.length === 0 ? [] : [{ ...item, cells }]
    })
  }

  async #startAll(items: readonly WorkItem[]): Promise<void> {
    const now = performance.now()
    const toDo = items.flatMap((item) => this.#look(item, now) ?? [])
    if (this.#isLocal) return this.#startTogether(toDo)
    await this.#answers.load()
    for (const item of toDo) {
      if (this.#underWay.isFull) await this.#underWay.room()
      while (this.#lacksMoney(item)) await this.#parts.budget.nextSettled()
      if (this.#parts.signal.aborted || this.#parts.streak.stopped !== null) return
      this.#start(item)
    }
    this.#parts.tally.report()
  }

  /** Whether a record needs a call that fits into `maxCost` only once calls under way cost less than was reserved for them. */
  #lacksMoney(toDo: ItemToDo): boolean {
    const { budget, planner } = this.#parts
    if (planner.request.maxCost === null || toDo.outcome === 'known') return false
    const { planned, answer } = toDo
    if (!makesCalls(planned.derivation.kind)) return false
    if (answer === null || answer.call !== null || this.#answers.isReusable(answer)) return false
    return budget.isShort(planner.price(planned)) && this.#sortOut(planned, answer).unknown.length > 0
  }

  /** Null when the record's cells are left alone. */
  #look(item: WorkItem, readAt: number): ItemToDo | null {
    const { planner, tally, unusable } = this.#parts
    const cells = planner.cells(item)
    if (cells.length === 0) return null
    this.#listed += cells.length
    const bad = this.#derivation.inputs.filter((input) => unusable.has(input, item.key))
    if (bad.length > 0) {
      const isLeft = bad.every((input) => unusable.isLeft(input, item.key))
      this.#leave(item, cells, isLeft)
      return null
    }
    const planned = planner.plan(this.#derivation, item, cells)
    switch (planned.outcome) {
      case 'blocked':
        tally.skip(cells.length)
        return null
      case 'skipped': {
        const failed = cells.filter(({ state }) => state === 'failed')
        tally.skip(cells.length - failed.length)
        return failed.length === 0 ? null : { outcome: 'known', item, cells: failed, result: 'skipped' }
      }
      case 'failed':
        return { outcome: 'known', item, cells, result: err(planned.failure) }
      case 'run':
        tally.skip(planned.later.length)
        return {
          outcome: 'run',
          planned,
          answer:
            planned.open.length === 0 || this.#isLocal
              ? null
              : this.#answers.take(planned.hash, this.#requestOf(planned), readAt),
        }
    }
  }

  /** The key of a request, where responses are reused. */
  #requestOf(planned: PlannedItem): string | null {
    return this.#parts.reuse === undefined ? null : this.#parts.planner.requestKey(planned)
  }

  /** Leaves cells alone though they have work, `isLeft` by the bounds of the run; nothing is computed from them (D27). */
  #leave(item: WorkItem, cells: readonly WorkCell[], isLeft: boolean): void {
    const { tally, unusable } = this.#parts
    if (isLeft) tally.leave(cells.length)
    else tally.skip(cells.length)
    for (const { target } of cells) unusable.add(target, item.key, isLeft)
  }

  /** Begins what a record takes; what its cells need of calls has begun when this returns. */
  #start(toDo: ItemToDo): void {
    this.#underWay.begin()
    const done = toDo.outcome === 'known' ? this.#settle(toDo) : this.#compute(toDo.planned, toDo.answer)
    void done.then(() => this.#underWay.end())
  }

  /** Begins a page of records of a local kind. */
  async #startTogether(toDo: readonly ItemToDo[]): Promise<void> {
    if (this.#underWay.isFull) await this.#underWay.room()
    if (this.#parts.signal.aborted || toDo.length === 0) return
    this.#underWay.begin()
    void this.#computeTogether(toDo).then(() => this.#underWay.end())
    this.#parts.tally.report()
  }

  /**
   * Computes and stores records of a local kind together: where nothing is called, equal computations need not be shared, bounded or cached.
   * Never rejects.
   */
  async #computeTogether(toDo: readonly ItemToDo[]): Promise<void> {
    const { planner, signal, onFault } = this.#parts
    const { contract, policies, limiter, store } = planner.request
    try {
      const planned = toDo.flatMap((item) => (item.outcome === 'run' ? [item.planned] : []))
      const open = planned.filter((item) => item.open.length > 0)
      const [{ derivation } = { derivation: this.#derivation }] = open
      const { formulas } = store
      const plans = open.map(({ plan }) => plan)
      const computed = await computeLocal(derivation, plans, { signal, policies, limiter, formulas })
      const results = new Map(open.map((item, index) => [item, computed[index]]))
      const records = toDo.map((item): ComputedRecord => {
        if (item.outcome === 'known') return this.#knownRecord(item)
        const cells: ComputedCell[] = item.planned.unchanged.map((cell) => ({ cell, result: 'unchanged' }))
        const result = results.get(item.planned)
        if (result === undefined) return { of: item.planned, cells }
        const outcome = outcomeOfResult(item.planned, result, { contract, validates: true })
        return { of: item.planned, cells: [...cells, ...this.#results(item.planned.open, outcome, false)] }
      })
      await this.#storeAll(records)
    } catch (error) {
      onFault(error)
    }
  }

  /** Stores that cells cannot be computed, or are skipped. Never rejects. */
  async #settle(known: KnownItem): Promise<void> {
    try {
      await this.#storeAll([this.#knownRecord(known)])
    } catch (error) {
      this.#parts.onFault(error)
    }
  }

  #knownRecord({ item, cells, result }: KnownItem): ComputedRecord {
    return { of: { derivation: this.#derivation, item }, cells: cells.map((cell) => ({ cell, result })) }
  }

  /** Stores the known results of a record, and makes a call for its other cells. Never rejects. */
  async #compute(planned: PlannedItem, answer: Answer | null): Promise<void> {
    const { onFault } = this.#parts
    let asked: CallOfCells | null = null
    let knownStored: Promise<void> | null = null
    try {
      const { known, unknown } = this.#sortOut(planned, answer)
      if (known.length > 0) knownStored = this.#store(planned, known).catch(onFault)
      if (answer !== null && unknown.length > 0) asked = this.#ask(planned, answer, unknown)
      if (asked !== null) {
        const outcome = await asked.answer.call
        if (outcome === null) this.#leave(planned.item, unknown, answer?.hasNoRoom ?? false)
        else await this.#storeOutcome(planned, asked, outcome)
      }
    } catch (error) {
      onFault(error)
    }
    asked?.onStored()
    if (knownStored !== null) await knownStored
    if (answer !== null) this.#answers.letGo(answer)
  }

  /** Returns the results of a record's cells that are known without a call, and the cells that need one. */
  #sortOut(
    { unchanged, open, plan }: PlannedItem,
    answer: Answer | null,
  ): { readonly known: readonly ComputedCell[]; readonly unknown: readonly WorkCell[] } {
    const known: ComputedCell[] = unchanged.map((cell) => ({ cell, result: 'unchanged' }))
    const unknown: WorkCell[] = []
    if (answer === null) return { known, unknown }
    for (const cell of open) {
      const computed = this.#known(answer, cell)
      if (computed === null) unknown.push(cell)
      else known.push(computed)
    }
    if (this.#refusal === null || this.#answers.isReusable(answer)) return { known, unknown }
    const failure = { reason: 'refused', request: plan.request, detail: this.#refusal } as const
    return { known: [...known, ...unknown.map((cell) => ({ cell, result: err(failure) }))], unknown: [] }
  }

  /** Has the call of an answer made for cells, unless it is already; null when the run's bounds have no room for it. */
  #ask(planned: PlannedItem, answer: Answer, cells: readonly WorkCell[]): CallOfCells | null {
    const stored = answer.call === null ? Promise.withResolvers<void>() : null
    answer.waiting.push({ item: planned.item, cells })
    if (stored !== null && !this.#call(planned, answer, stored.promise)) {
      answer.waiting.pop()
      this.#leave(planned.item, cells, this.#parts.streak.stopped === null)
      return null
    }
    return { answer, cells, first: stored !== null, onStored: () => stored?.resolve() }
  }

  #known({ hash, entry, isOfRun, failed }: Answer, cell: WorkCell): ComputedCell | null {
    const failure = Object.hasOwn(failed, cell.target) ? failed[cell.target] : undefined
    const known = failure === undefined ? null : { cell, result: failure }
    // What the cache has may be older than what this run has asked for in vain.
    if (this.#parts.planner.asksAnew(cell, hash) && (known !== null || !isOfRun)) return known
    const value = this.#parts.planner.cachedValue(entry, cell.target)
    if (value === undefined) return known
    return { cell, result: ok(value), cached: true, provenance: entry?.provenance }
  }

  /** Begins a call; false when the run's bounds have no room for it. `stored`: when what it brings is stored. */
  #call(planned: PlannedItem, answer: Answer, stored: Promise<void>): boolean {
    const isWanted = (): boolean | Promise<boolean> =>
      performance.now() - answer.since < FRESH_MS || this.#stillWanted.ask(answer.waiting)
    const steps = this.#steps
    const recordId = planned.item.id
    return beginCall(this.#parts, this.#answers, {
      planned,
      recordId,
      answer,
      stored,
      isWanted,
      ...(steps !== null && {
        step: (step, most) => steps.carryOut(step, { most, recordId, isWanted }),
        onStepResult: (result) => this.#countStep(result),
      }),
    })
  }

  /** Stores the count of a step's result, also if its computation ends without a result. */
  #countStep(result: StepResult): void {
    const { commits, onFault } = this.#parts
    this.#underWay.begin()
    void commits
      .add({ results: [], ...countOfStep(result) })
      .catch(onFault)
      .finally(() => this.#underWay.end())
  }

  /** Stores what a call came to for cells. */
  #storeOutcome(
    planned: PlannedItem,
    { answer, cells, first }: CallOfCells,
    outcome: CallOutcome,
  ): Promise<void> {
    const mine = first && !outcome.isOthers
    if (mine && outcome.reused === undefined) noteOutcome(this.#parts, this.#derivation, outcome)
    const results = this.#results(
      cells,
      outcome,
      !mine || outcome.reused !== undefined || outcome.isCached === true,
    )
    return this.#store(planned, results, mine ? callBehind(planned, outcome, answer) : NO_CALL)
  }

  /** Returns the results of a call for cells. */
  #results(
    cells: readonly WorkCell[],
    { values, provenance, inputHash }: CallOutcome,
    cached: boolean,
  ): ComputedCell[] {
    const results: ComputedCell[] = []
    for (const cell of cells) {
      const result: Result<JsonValue, Failure> | undefined = values[cell.target]
      // What has been paid for is stored, but what fails once the run is stopped may fail for that very reason.
      if (result === undefined || (this.#parts.signal.aborted && !result.ok)) continue
      results.push({ cell, result, cached, provenance, ...(inputHash !== undefined && { inputHash }) })
    }
    return results
  }

  /** Stores what cells of one record came to. */
  #store(of: ItemOfRun, cells: readonly ComputedCell[], behind?: CallBehind): Promise<void> {
    return this.#storeAll([{ of, cells }], behind)
  }

  /** Stores what cells of records came to. */
  async #storeAll(records: readonly ComputedRecord[], behind: CallBehind = NO_CALL): Promise<void> {
    const results = records.flatMap(({ of, cells }) => cells.map((cell) => resultOfRun(of, cell)))
    if (results.length === 0 && behind === NO_CALL) return
    const outcomes = (await this.#parts.commits.add({ results, ...behind })).values()
    const again: ComputedRecord[] = []
    for (const { of, cells } of records) {
      const refused: ComputedCell[] = []
      for (const { cell, result } of cells) {
        const { outcome, detail = '' } = outcomes.next().value as CellOutcome & { readonly detail?: string }
        if (outcome === 'refused' && of.plan !== undefined) {
          refused.push({ cell, result: err(contractFailure(of.plan, cell.target, detail)) })
        }
        if (outcome === 'stored' && typeof result !== 'string' && !result.ok) {
          this.#parts.unusable.add(cell.target, of.item.key)
        }
      }
      if (refused.length === 0) continue
      // Other records decide whether it is refused the next time: it need not wait.
      const { hash: _, ...unhashed } = of
      again.push({ of: unhashed, cells: refused })
    }
    if (again.length > 0) await this.#storeAll(again)
  }
}

interface CallOfCells {
  readonly answer: Answer
  readonly cells: readonly WorkCell[]
  /** Whether the call was begun for these. */
  readonly first: boolean
  /** To be called when what it brings is stored, or cannot be. */
  readonly onStored: () => void
}
