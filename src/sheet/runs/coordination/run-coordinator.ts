import { setTimeout as delay } from 'node:timers/promises'
import type { Derivation } from '../../../derivation/definition/derivation-kind.ts'
import { runScope } from '../../../derivation/plan/run-scope.ts'
import { manualCells, sumOf } from '../../../derivation/plan/manual-cells.ts'
import { Planner, type RunScope } from '../../../derivation/plan/planner.ts'
import type { PlanRequest } from '../../../derivation/run-request.ts'
import { OperationError } from '../../../errors/service-error.ts'
import {
  HEARTBEAT_MS,
  TaskLostError,
  type LevelCut,
  type RunPlace,
  type RunTask,
  type RunTasks,
} from '../../../store/run-tasks.ts'
import type { RecordKey } from '../../../store/cell-work.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunLock, RunOrder } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import type { LockedRun } from './coordinated-run.ts'
import { LocalRunner } from '../tasks/local-runner.ts'
import { prepareCalls } from '../../calls/prepare-calls.ts'
import { resolveSelection } from '../selection/run-selection.ts'
import type { Sheet } from '../../sheet.ts'
import { errorFrom } from '../../run-error.ts'

/**
 * The most records of a task, and the fewest where there are few: enough to make up for the overhead, few enough to
 * share.
 */
const MOST_RECORDS = 100
const LEAST_RECORDS = 8

/** Tasks that each worker gets when records are few. */
const TASKS_EACH = 4

/** Keys of records read at a time. */
const KEYS = 10_000

/** The intervals, in milliseconds, at which the state of tasks is polled: at first, and the longest. */
const FIRST_POLL_MS = 20
const LONGEST_POLL_MS = 200

/** The time, in milliseconds, that processes have to release the tasks of a run that was stopped. */
const RELEASE_TIMEOUT_MS = 3000

type Piece = Omit<RunTask, 'run'>

/**
 * Coordinates a run: divides each level into tasks, which this process or workers compute, and waits until they are
 * settled. Resumes a run that another process has begun. Keeps `active` up to date. Throws the error that broke the
 * run, the signal's reason, and TaskLostError when the run lock is lost.
 */
export class RunCoordinator {
  readonly #sheet: Sheet
  readonly #store: SheetStore
  readonly #tasks: RunTasks
  readonly #active: ActiveRun
  readonly #lock: RunLock
  readonly #runner: LocalRunner
  readonly #heartbeat: NodeJS.Timeout
  /** One at a time, so that none is published after the last. */
  #reporting: Promise<void> | null = null
  #lockLost: TaskLostError | null = null

  constructor({ sheet, store, tasks, active, lock }: Omit<LockedRun, 'order' | 'frames'>) {
    this.#sheet = sheet
    this.#store = store
    this.#tasks = tasks
    this.#active = active
    this.#lock = lock
    this.#runner = new LocalRunner(sheet, tasks)
    this.#heartbeat = setInterval(() => {
      // Also while one has no response: its connection may be lost, and others not.
      void tasks.heartbeat(active.id, lock).catch((error: unknown) => {
        if (error instanceof TaskLostError) this.#lockLost = error
      })
      this.#reporting ??= this.#report()
        .catch(() => undefined)
        .finally(() => (this.#reporting = null))
    }, HEARTBEAT_MS / 4)
  }

  async run(order: RunOrder): Promise<void> {
    const { id, signal } = this.#active
    // At once, so that no other process takes over an orphaned run as well.
    await this.#tasks.heartbeat(id, this.#lock)
    const { request, place, scope } = await this.#begin(order)
    const levels = levelsOf(request)
    for (const [level, derivations] of levels.entries()) {
      if (level >= place.levels) await this.#add({ request, scope, level, derivations })
      await this.#settled()
    }
    signal.throwIfAborted()
    // Fails when another process has taken the run over, which needs the tasks.
    await this.#tasks.heartbeat(id, this.#lock)
    await this.#tasks.end(id)
    await this.#reportLast()
    this.skipRest()
  }

  /** Counts cells that were neither computed nor failed as skipped. */
  skipRest(): void {
    const { progress } = this.#active.feed
    const { total, materialized, failed } = progress
    this.#active.feed.onProgress({ ...progress, skipped: total - materialized - failed, done: total })
  }

  /**
   * Releases the run, so that another process takes it over at once; when the store cannot be written, others detect it
   * after a few seconds.
   */
  async handOver(): Promise<void> {
    // First: as long as it sends heartbeats, no other process takes the run over.
    clearInterval(this.#heartbeat)
    await this.#tasks.handOver(this.#active.id, this.#lock).catch(() => undefined)
  }

  /** Stops coordinating the run. Tasks that this process computes are left to others. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    await this.#runner.stop()
  }

  /** Stops the tasks of the run in all processes, and counts what they have stored. */
  async stopTasks(): Promise<void> {
    const { id } = this.#active
    // First, so that no other process starts the tasks that are given up here.
    await this.#tasks.stop(id)
    await this.#runner.stop()
    const deadline = performance.now() + RELEASE_TIMEOUT_MS
    while ((await this.#tasks.state(id)).held > 0 && performance.now() < deadline) await delay(FIRST_POLL_MS)
    await this.#tasks.end(id)
    await this.#reportLast()
  }

  /** Resolves the scope of the run; of a run that is resumed, the stored scope. */
  async #begin(order: RunOrder): Promise<{ request: PlanRequest; place: RunPlace; scope: RunScope }> {
    const { id, signal } = this.#active
    const { plan: request, absent } = await resolveSelection(this.#sheet, order, signal)
    const { total } = await this.#store.status()
    const known = await this.#tasks.place(id)
    if (known !== null) {
      const records = known.records ?? request.records
      return {
        request,
        place: known,
        scope: { total: records?.length ?? total, records, lastKey: known.lastKey, lastSeq: known.lastSeq },
      }
    }
    // Workers make the calls, where there are any, and need what they take.
    if ((await this.#tasks.workers()) === 0) await prepareCalls(request)
    await this.#store.runLocked(id, {
      manual: sumOf(await manualCells(request)),
      total: (request.records?.length ?? total) * request.targets.size + absent.length,
      absent,
    })
    const scope = await runScope(request)
    const { lastKey, lastSeq } = scope
    const place = { lastKey, lastSeq, records: order.limit === null ? null : scope.records, levels: 0 }
    await this.#tasks.begin(id, place)
    return { request, place, scope }
  }

  async #add(level: Level): Promise<void> {
    const { id, signal } = this.#active
    signal.throwIfAborted()
    await this.#tasks.addLevel(id, level.level, await this.#cut(level))
  }

  async #cut({ request, scope, derivations }: Level): Promise<LevelCut> {
    const { store, signal } = request
    const planner = new Planner(request, scope, signal)
    const status = await store.status()
    const workers = Math.max(1, await this.#tasks.workers())
    const idle = derivations.reduce((sum, derivation) => sum + planner.idleCells(derivation, status), 0)
    return { tasks: () => pieces(this.#tasks, { planner, derivations, workers }), idle }
  }

  /** Waits until all tasks so far are settled. */
  async #settled(): Promise<void> {
    const { id, signal } = this.#active
    for (let wait = FIRST_POLL_MS; ; wait = Math.min(wait * 1.5, LONGEST_POLL_MS)) {
      signal.throwIfAborted()
      if (this.#lockLost !== null) throw this.#lockLost
      const { open, error } = await this.#tasks.state(id)
      if (error !== null) throw errorFrom(error)
      if (open === 0) break
      await this.#runner.update()
      await delay(wait, undefined, { signal }).catch(() => undefined)
    }
    // The tasks of a stopped run are settled without being computed.
    if (!(await this.#tasks.goesOn(id))) await this.#stopped()
  }

  async #stopped(): Promise<void> {
    const { id, signal } = this.#active
    const actor = await this.#store.cancelRequest(id)
    if (actor !== null) this.#active.cancel(actor)
    signal.throwIfAborted()
    throw new OperationError(`run ${id} was stopped by another process`, 'run_interrupted')
  }

  async #reportLast(): Promise<void> {
    clearInterval(this.#heartbeat)
    await this.#reporting
    await this.#report()
  }

  /** Publishes the progress of the run. */
  async #report(): Promise<void> {
    const run = await this.#store.run(this.#active.id)
    // Another process may have ended it, and published that.
    if (run?.state === 'running') this.#active.feed.onProgress(run)
  }
}

interface Level {
  readonly request: PlanRequest
  readonly scope: RunScope
  readonly level: number
  readonly derivations: readonly Derivation[]
}

/**
 * Returns the derivations in levels. A run with bounds computes them one after another, so that a dry run can predict
 * what the bounds leave for each.
 */
function levelsOf({ levels, targets, maxCalls, maxCost }: PlanRequest): (readonly Derivation[])[] {
  const wanted = levels
    .map((level) => level.filter((derivation) => derivation.targets.some((target) => targets.has(target))))
    .filter((level) => level.length > 0)
  return maxCalls === null && maxCost === null ? wanted : wanted.flat().map((derivation) => [derivation])
}

interface Cut {
  readonly planner: Planner
  readonly derivations: readonly Derivation[]
  readonly workers: number
}

/**
 * Yields the tasks of a level, many at a time, alternating between derivations so that calls go to all of their hosts.
 * A run with bounds has one task for each derivation, whose calls start in the order of its records.
 */
async function* pieces(
  tasks: RunTasks,
  { planner, derivations, workers }: Cut,
): AsyncGenerator<readonly Piece[]> {
  const { maxCalls, maxCost } = planner.request
  const { lastKey, lastSeq, records: scope } = planner.scope
  const bounded = maxCalls !== null || maxCost !== null
  const piece = ({ file, sha256 }: Derivation, records: readonly RecordKey[] | null): Piece => ({
    derivation: file,
    sha256,
    records,
    lastKey,
    lastSeq,
    bounded,
  })
  if (bounded) {
    yield derivations.map((derivation) => piece(derivation, scope))
    return
  }
  const partsOf = async function* (derivation: Derivation): AsyncGenerator<readonly Piece[]> {
    for await (const keys of workKeys(tasks, planner, derivation)) {
      yield inParts(keys, workers).map((records) => piece(derivation, records))
    }
  }
  for (let cutting = derivations.map(partsOf); cutting.length > 0;) {
    const lists: (readonly Piece[])[] = []
    const left: typeof cutting = []
    for (const parts of cutting) {
      const cut = await parts.next()
      if (cut.done === true) continue
      lists.push(cut.value)
      left.push(parts)
    }
    cutting = left
    yield interleaved(lists)
  }
}

/** Returns the first item of each list, then the second of each, and so on. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, index) => index).flatMap((index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  )
}

async function* workKeys(
  tasks: RunTasks,
  { request, scope }: Planner,
  derivation: Derivation,
): AsyncGenerator<readonly RecordKey[]> {
  const { force, only: state } = request
  const query = {
    targets: derivation.targets.filter((target) => request.targets.has(target)),
    force: force && state === null,
    state,
    ready: true,
    limit: KEYS,
  }
  for (let start = 0; ; start += KEYS) {
    const only = scope.records?.slice(start, start + KEYS) ?? null
    if (only?.length === 0) return
    for (let after: RecordKey | null = null; ;) {
      const keys: readonly RecordKey[] = await tasks.workKeys({ ...query, only, after })
      request.signal.throwIfAborted()
      const wanted = keys.filter((key) => key <= scope.lastKey)
      if (wanted.length > 0) yield wanted
      if (keys.length < KEYS || wanted.length < keys.length) break
      after = keys.at(-1) ?? null
    }
    if (only === null) return
  }
}

function inParts(keys: readonly RecordKey[], workers: number): (readonly RecordKey[])[] {
  const fair = Math.ceil(keys.length / (workers * TASKS_EACH))
  const size = Math.min(MOST_RECORDS, Math.max(LEAST_RECORDS, fair))
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, index) =>
    keys.slice(index * size, (index + 1) * size),
  )
}
