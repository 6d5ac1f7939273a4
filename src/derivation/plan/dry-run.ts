import type { CacheEntry, WorkCell, WorkItem } from '../../store/cell-work.ts'
import { Budget, mostPossible, Prices, type Bounds, type Price } from './budget.ts'
import { CallRangeCount } from './call-range.ts'
import { byRecord, inChunks, oneByOne } from './by-record.ts'
import { makesCalls, type Derivation, type StepPlan } from '../definition/derivation-kind.ts'
import { ExpectedUsage } from './expected-usage.ts'
import { foreseeSteps, stepsOf, type ForeseenCall } from './foresee-steps.ts'
import { dependenciesOf } from '../definition/graph.ts'
import { digestOf } from './hash-digest.ts'
import { manualCounts, sumOf } from './manual-cells.ts'
import { Planner, retryTime, type PlannedItem, type RunScope } from './planner.ts'
import { priceLater, type LaterCall } from './price-later.ts'
import { RecordsOfFields } from './record-keys.ts'
import type { KeptNote } from '../../store/stored-responses.ts'
import { KeptCount } from './kept-count.ts'
import type { PlanRequest, RunBlock, RunPlan, TargetPlan } from '../run-request.ts'

/** Records whose cache entries are read at a time. */
const LOOKUP_CHUNK = 256

/** The state of a record before the cache is read and calls are counted. */
type Foreseen =
  /** Its cells are computed, or filled from the cache, as planned. */
  | { readonly is: 'certain'; readonly item: WorkItem; readonly planned: PlannedItem }
  /** An input blocks its cells. */
  | { readonly is: 'blocked'; readonly cells: readonly WorkCell[]; readonly block: RunBlock }
  /** An input is itself computed in the run: its cells may need a call of their own. */
  | {
      readonly is: 'possible'
      readonly item: WorkItem
      readonly cells: readonly WorkCell[]
      /** The calls that they may need; more than one for a kind with steps. */
      readonly later: readonly LaterCall[]
    }
  /** Its cells fail without a call, or one of their inputs is unusable; the `perhaps` cells may become stale, and are then skipped too. */
  | {
      readonly is: 'unusable'
      readonly item: WorkItem
      readonly cells: readonly WorkCell[]
      readonly perhaps: readonly WorkCell[]
      /** Whether the only reason is a bound of the run. */
      readonly isLeft: boolean
    }

/**
 * Simulates a run in its order: derivation by derivation, each with its records ascending. If the run computes an input of a record, the
 * record's input hash is unknown. Such a record counts as one call for each cell that the run may compute, which is an upper bound.
 * Failures of calls cannot be foreseen: all calls count as successful.
 */
export class DryRun {
  readonly planner: Planner
  readonly #bounds: Bounds
  readonly #budget: Budget
  readonly #compute = new Map<string, number>()
  readonly #cached = new Map<string, number>()
  readonly #kept = new Map<string, KeptCount>()
  /** Cells whose value written by hand is overwritten. */
  readonly #overwritten = new Map<string, number>()
  /** The calls of the run; equal requests of all derivations share one. */
  readonly #shared: SharedCalls = { begun: new Map(), refused: new Set() }
  /** Cells that exceed the bounds, and those computed from them. */
  readonly #left = new Map<string, number>()
  /** Cells that an input blocks, by the reason. */
  readonly #blocked = new Map<RunBlock['reason'], Map<string, number>>()
  /** Cells that failed and are not tried again yet. */
  readonly #later = new Map<string, LaterCount>()
  readonly #ready: boolean
  /** Cells that the run computes, or may compute. */
  readonly #open: RecordsOfFields
  /**
   * Pending cells that are certainly not computed: they or one of their inputs fail without a call, or exceed the bounds. Nothing is
   * computed from them (D27).
   */
  readonly #unusable: RecordsOfFields
  /** The unusable cells whose only reason is a bound. */
  readonly #leftCells: RecordsOfFields
  readonly #refused = new Prices()
  readonly #expected = new ExpectedUsage()
  readonly #range = new CallRangeCount()
  #atMost = false

  /** `ready` skips cells that are blocked now, which are then not counted as blocked. */
  constructor(request: PlanRequest, scope: RunScope, { ready }: { ready: boolean }) {
    this.#ready = ready
    this.planner = new Planner(request, scope)
    this.#bounds = request
    this.#budget = new Budget(request)
    const inputs = this.planner.derivations.flatMap(dependenciesOf)
    this.#open = new RecordsOfFields(inputs)
    this.#unusable = new RecordsOfFields(inputs)
    this.#leftCells = new RecordsOfFields(inputs)
  }

  /**
   * Counts the effect of the run for a derivation, after those that it depends on. Yields, from time to time, the number of calls counted
   * so far for this derivation, whether or not the bounds allow them.
   */
  async *follow(derivation: Derivation): AsyncGenerator<number> {
    const areMade = derivation.refusal === null
    const own: SharedCalls = { begun: new Map(), refused: new Set() }
    const { force, reuseResponses } = this.planner.request
    const isLocal = !makesCalls(derivation.kind) && derivation.kind.stepsOf === undefined
    const calls: CallsOfDerivation = { areMade, isLocal, ...(reuseResponses ? this.#shared : own), count: 0 }
    await this.planner.readUsage(derivation)
    this.#range.addResults(this.planner.resultsOfSteps(derivation))
    for await (const items of this.#items(derivation)) {
      const foreseen = items.flatMap((item) => this.#foresee(derivation, item) ?? [])
      const hashes = foreseen.flatMap((each) => (each.is === 'certain' ? hashesOf(each.planned) : []))
      const entries = await this.planner.cached(force || isLocal ? [] : hashes)
      const certain = foreseen.flatMap((each) => (each.is === 'certain' ? [each.planned] : []))
      const requests = await this.#requests(certain, entries)
      for (const each of foreseen) this.#settle(each, { entries, requests, calls })
      yield calls.count
    }
  }

  /** `manual`: the number of cells of each target that have a value written by hand. */
  plan(manual: ReadonlyMap<string, number>): RunPlan {
    const { targets } = this.planner.request
    const isBeyond = this.#atMost && this.#refused.count > 0
    const unpriced = this.#budget.unpricedCalls + (isBeyond ? this.#refused.unpriced : 0)
    const { calls, cost } = isBeyond
      ? mostPossible([...this.#budget.prices, ...this.#refused], this.#bounds)
      : this.#budget
    const usage = this.#expected.sum
    const range = this.#range.within({ calls, cost })
    const plans = [...targets].map((target) => [target, this.#targetPlan(target, manual)] as const)
    return {
      targets: Object.fromEntries(plans),
      calls,
      cost,
      ...(range !== undefined && { range }),
      ...(usage !== undefined && { estimate: { ...usage, cost: Math.min(usage.cost, cost) } }),
      ...(unpriced > 0 && { unpricedCalls: Math.min(calls, unpriced) }),
      ...manualCounts({ all: sumOf(manual), overwritten: sumOf(this.#overwritten) }),
      atMost: this.#atMost,
    }
  }

  #targetPlan(target: string, manual: ReadonlyMap<string, number>): TargetPlan {
    const compute = this.#compute.get(target) ?? 0
    const cached = this.#cached.get(target) ?? 0
    const kept = this.#kept.get(target)?.calls
    const left = this.#left.get(target) ?? 0
    const later = this.#later.get(target)
    const skipped = this.planner.scope.total - compute - cached
    const blocked = Object.fromEntries(
      [...this.#blocked].flatMap(([reason, counts]) => {
        const count = counts.get(target)
        return count === undefined ? [] : [[reason, count] as const]
      }),
    )
    return {
      compute,
      cached,
      skipped,
      ...(Object.keys(blocked).length > 0 && { blocked }),
      ...(left > 0 && { left }),
      ...(later !== undefined && { retryLater: { cells: later.cells, next: timeOf(later.next) } }),
      ...(kept !== undefined && { kept }),
      ...manualCounts({
        all: manual.get(target) ?? 0,
        overwritten: this.#overwritten.get(target) ?? 0,
      }),
    }
  }

  /** The records for which the run has, or may have, cells to compute. */
  #items(derivation: Derivation): AsyncIterable<readonly WorkItem[]> {
    // A query that reads what the run computes first may have another result in any record.
    if (this.#readsOpen(derivation) && !this.planner.takesAll)
      return this.planner.every(derivation, this.planner.scope.records)
    const work = this.planner.work(derivation, { ready: this.#ready, plans: !this.#readsOpen(derivation) })
    // Cells that are fresh or blocked now may have to be computed once their inputs have been.
    const open = this.planner.takesAll ? [] : this.#open.inAny(derivation.inputs)
    if (open.length === 0) return work
    const lists = [oneByOne(this.planner.every(derivation, open)), oneByOne(work)]
    return inChunks(firstOfEach(byRecord(lists)), LOOKUP_CHUNK)
  }

  /** Whether a derivation reads, in all records, a field of which the run computes cells, or may. */
  #readsOpen({ reads }: Derivation): boolean {
    return reads !== null && this.#open.inAny(reads).length > 0
  }

  /** Null if nothing is to be computed for the record. */
  #foresee(derivation: Derivation, item: WorkItem): Foreseen | null {
    const { key } = item
    const open = new Set(derivation.inputs.filter((input) => this.#open.has(input, key)))
    const cells = this.planner.cells(item)
    const block = this.planner.block(derivation, item, open)
    const blocked = cells.length === 0 || block === null ? null : ({ is: 'blocked', cells, block } as const)
    // The run skips records that are blocked when it begins.
    if (blocked !== null && !this.planner.takesAll && cells.every((cell) => cell.blocked)) return blocked
    const unusable = derivation.inputs.filter((input) => this.#unusable.has(input, key))
    if (unusable.length > 0) {
      const inTime = open.size > 0 ? this.planner.cellsInTime(item) : []
      const isLeft = unusable.every((input) => this.#leftCells.has(input, key))
      return { is: 'unusable', item, cells, perhaps: inTime.filter((cell) => !cells.includes(cell)), isLeft }
    }
    if (block !== null) return blocked
    if (open.size > 0 || this.#readsOpen(derivation)) return this.#foreseeLater(derivation, item, open)
    const planned = this.planner.plan(derivation, item, cells)
    if (planned.outcome === 'failed') return { is: 'unusable', item, cells, perhaps: [], isLeft: false }
    if (planned.outcome !== 'run') return null
    return planned.open.length + planned.later.length > 0 ? { is: 'certain', item, planned } : null
  }

  #foreseeLater(derivation: Derivation, item: WorkItem, open: ReadonlySet<string>): Foreseen | null {
    const cells = this.planner.cellsInTime(item)
    if (cells.length === 0) return null
    const priced = priceLater(this.planner, { derivation, inputs: item.inputs, open })
    return priced === null ? null : { is: 'possible', item, cells, later: priced }
  }

  #settle(foreseen: Foreseen, known: Known): void {
    const { calls } = known
    switch (foreseen.is) {
      case 'certain':
        return this.#settleCertain(foreseen.planned, known)
      case 'blocked': {
        const counts = this.#blocked.get(foreseen.block.reason) ?? new Map<string, number>()
        this.#blocked.set(foreseen.block.reason, counts)
        return this.#count(counts, foreseen.cells)
      }
      case 'possible': {
        const { item } = foreseen
        this.#atMost = true
        if (!calls.areMade) {
          // The cache may fill all of them.
          return this.#note(this.#open, item, foreseen.cells)
        }
        if (calls.isLocal) {
          this.#countFilled(this.#compute, foreseen.cells)
          return this.#note(this.#open, item, foreseen.cells)
        }
        const { later } = foreseen
        calls.count += later.length
        for (const [index, call] of later.entries()) {
          const fits = this.#budget.begin(call.price)
          if (fits) {
            this.#expected.add(call, call.reach ?? 1)
            this.#range.addPossible(call)
          } else this.#refused.add(call.price)
          if (index > 0) continue
          if (fits) this.#countFilled(this.#compute, foreseen.cells)
          else this.#count(this.#left, foreseen.cells)
        }
        return this.#note(this.#open, item, foreseen.cells)
      }
      case 'unusable':
        this.#note(this.#unusable, foreseen.item, foreseen.cells)
        if (foreseen.isLeft) this.#leave(foreseen.item, foreseen.cells)
        return this.#note(this.#open, foreseen.item, foreseen.perhaps)
    }
  }

  #settleCertain(planned: PlannedItem, known: Known): void {
    const { entries, requests, calls } = known
    const { item, open, hash } = planned
    this.#countLater(planned)
    if (planned.derivation.kind.stepsOf !== undefined) return this.#settleSteps(planned, known)
    const entry = entries.get(hash)
    const uncached = this.#uncached(planned, entry)
    const cached = open.filter((cell) => !uncached.includes(cell))
    this.#countFilled(this.#cached, cached)
    this.#note(this.#open, item, cached)
    if (uncached.length === 0) return
    const request = requests.keys.get(planned) ?? null
    const note = request === null ? undefined : requests.kept.get(request)
    if (request !== null && note !== undefined) this.#countKept(uncached, request, note)
    if (note !== undefined && this.planner.request.reuseResponses) {
      this.#countFilled(this.#cached, uncached)
      this.#note(this.#open, item, uncached)
    } else if (!calls.areMade) {
      this.#note(this.#unusable, item, uncached)
    } else if (calls.isLocal || this.#begin(planned, request, calls)) {
      this.#countFilled(this.#compute, uncached)
      this.#note(this.#open, item, uncached)
    } else {
      this.#leave(item, uncached)
      // If earlier calls may not be made, the bounds may allow this one after all.
      this.#note(this.#atMost ? this.#open : this.#unusable, item, uncached)
    }
  }

  /** Counts a computation of steps: the calls of all steps that it may reach. */
  #settleSteps(planned: PlannedItem, { entries, requests, calls }: Known): void {
    const { derivation, plan, item, open } = planned
    if (open.length === 0) return
    const isKept = (step: StepPlan): boolean => {
      const key = this.planner.request.reuseResponses ? this.planner.requestKey(step) : null
      return key !== null && requests.kept.has(key)
    }
    const foreseen = foreseeSteps(this.planner, { derivation, plan, entries, isKept })
    const needed = foreseen.calls.filter(({ step }) => !calls.begun.has(this.#digestOf(step)))
    if (foreseen.isRefused) return this.#note(this.#unusable, item, open)
    for (const call of foreseen.calls) this.#raise(call, calls)
    const [first] = needed
    if (first?.isCertain === true && !this.#beginStep(first, calls)) {
      this.#leave(item, open)
      return this.#note(this.#atMost ? this.#open : this.#unusable, item, open)
    }
    for (const call of needed) {
      if (!call.isCertain) this.#atMost = true
      if (call !== first || !call.isCertain) this.#beginStep(call, calls)
    }
    this.#countFilled(foreseen.isComputed ? this.#compute : this.#cached, open)
    this.#note(this.#open, item, open)
  }

  /** Whether the call of a step is made. */
  #beginStep(call: ForeseenCall, calls: CallsOfDerivation): boolean {
    const { step, price } = call
    const digest = this.#digestOf(step)
    if (this.#budget.begin(price)) {
      const expected = { ...this.planner.expected(step), price }
      this.#expected.add(expected, call.reach ?? 1)
      this.#range.addStep(expected, call)
      calls.begun.set(digest, price)
      calls.count += 1
      return true
    }
    this.#refuse(digest, price, calls)
    return false
  }

  /** Raises the counted price of a call: earlier records that it is for may have less left of their bound than this one. */
  #raise({ step, price }: ForeseenCall, calls: CallsOfDerivation): void {
    const digest = this.#digestOf(step)
    const counted = calls.begun.get(digest)
    if (counted === undefined || counted === null || price === null || price <= counted) return
    this.#budget.giveBack(counted)
    if (this.#budget.begin(price)) calls.begun.set(digest, price)
    else {
      this.#budget.begin(counted)
      this.#refused.add(price)
    }
  }

  /** The digest by which equal calls are one. */
  #digestOf(step: StepPlan): string {
    const request = this.planner.request.reuseResponses ? this.planner.requestKey(step) : null
    return digestOf(request ?? step.hash)
  }

  #countLater({ derivation, later }: PlannedItem): void {
    for (const { target, failure } of later) {
      const next = failure === undefined ? Infinity : (retryTime(derivation, failure) ?? Infinity)
      const { cells, next: first } = this.#later.get(target) ?? { cells: 0, next: Infinity }
      this.#later.set(target, { cells: cells + 1, next: Math.min(first, next) })
    }
  }

  /** The cells without a value in the cache. */
  #uncached({ open, hash }: PlannedItem, entry: CacheEntry | undefined): WorkCell[] {
    return open.filter(
      (cell) =>
        this.planner.asksAnew(cell, hash) || this.planner.cachedValue(entry, cell.target) === undefined,
    )
  }

  /** The requests of records that the cache does not fill, and which of them have a kept response. */
  async #requests(
    certain: readonly PlannedItem[],
    entries: ReadonlyMap<string, CacheEntry>,
  ): Promise<Requests> {
    const keys = new Map<PlannedItem, string>()
    const ofSteps: string[] = []
    for (const planned of certain) {
      if (planned.derivation.kind.stepsOf !== undefined) {
        const steps = this.planner.request.reuseResponses ? stepsOf(planned.derivation, planned.plan) : []
        ofSteps.push(...steps.flatMap((step) => this.planner.requestKey(step) ?? []))
        continue
      }
      const needed = this.#uncached(planned, entries.get(planned.hash)).length > 0
      const key = needed ? this.planner.requestKey(planned) : null
      if (key !== null) keys.set(planned, key)
    }
    const { responses } = this.planner.request.store
    const wanted = [...new Set([...keys.values(), ...ofSteps])]
    return { keys, kept: wanted.length === 0 ? new Map() : await responses.find(wanted) }
  }

  #countKept(cells: readonly WorkCell[], request: string, note: KeptNote): void {
    for (const { target } of cells) {
      const count = this.#kept.get(target) ?? new KeptCount()
      this.#kept.set(target, count)
      count.add(digestOf(request), note)
    }
  }

  /** Whether the call is made: equal hashes share one, and so do equal requests if responses are reused. */
  #begin(planned: PlannedItem, request: string | null, calls: CallsOfDerivation): boolean {
    const { reuseResponses } = this.planner.request
    const digest = digestOf(reuseResponses && request !== null ? request : planned.hash)
    if (calls.begun.has(digest)) return true
    const expected = this.planner.expected(planned)
    const { price } = expected
    if (this.#budget.begin(price)) {
      this.#expected.add(expected)
      this.#range.add(expected)
      calls.begun.set(digest, price)
      calls.count += 1
      return true
    }
    this.#refuse(digest, price, calls)
    return false
  }

  /** Counts a call that the bounds of the run have no room for, once. */
  #refuse(digest: string, price: Price, calls: CallsOfDerivation): void {
    if (calls.refused.has(digest)) return
    calls.refused.add(digest)
    calls.count += 1
    this.#refused.add(price)
  }

  #leave(item: WorkItem, cells: readonly WorkCell[]): void {
    this.#count(this.#left, cells)
    this.#note(this.#leftCells, item, cells)
  }

  /** Counts cells that get a value, and those whose value written by hand is overwritten. */
  #countFilled(counts: Map<string, number>, cells: readonly WorkCell[]): void {
    this.#count(counts, cells)
    this.#count(
      this.#overwritten,
      cells.filter(({ state }) => state === 'overridden'),
    )
  }

  #count(counts: Map<string, number>, cells: readonly WorkCell[]): void {
    for (const { target } of cells) counts.set(target, (counts.get(target) ?? 0) + 1)
  }

  #note(records: RecordsOfFields, { key }: WorkItem, cells: readonly WorkCell[]): void {
    for (const { target } of cells) records.add(target, key)
  }
}

/** Cells that are not tried again yet, and the time of the first next try; Infinity for never. */
interface LaterCount {
  readonly cells: number
  readonly next: number
}

/** Returns the hashes of the cache entries that a computation needs. */
function hashesOf({ derivation, plan, hash }: PlannedItem): readonly string[] {
  if (derivation.kind.stepsOf === undefined) return [hash]
  return stepsOf(derivation, plan).map((step) => step.hash)
}

function timeOf(ms: number): string | null {
  return ms === Infinity ? null : new Date(ms).toISOString()
}

/** The stored state of the records of one batch. */
interface Known {
  readonly entries: ReadonlyMap<string, CacheEntry>
  readonly requests: Requests
  readonly calls: CallsOfDerivation
}

interface Requests {
  readonly keys: ReadonlyMap<PlannedItem, string>
  readonly kept: ReadonlyMap<string, KeptNote>
}

/** Distinct calls, as digests of their input hashes, or of their requests if responses are reused. */
interface SharedCalls {
  /** With the counted price. */
  readonly begun: Map<string, Price>
  readonly refused: Set<string>
}

/** The calls of a derivation. */
interface CallsOfDerivation extends SharedCalls {
  /** False if this machine makes none: a cell without a value in the cache then fails. */
  readonly areMade: boolean
  /** Whether the computations are no calls, so that no bound applies. */
  readonly isLocal: boolean
  /** Calls that the run may make, including those beyond the bounds. */
  count: number
}

async function* firstOfEach(records: ReturnType<typeof byRecord>): AsyncGenerator<WorkItem> {
  for await (const { items } of records) {
    const item = items.find((each) => each !== undefined)
    if (item !== undefined) yield item
  }
}
