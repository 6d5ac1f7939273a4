import { setTimeout as delay } from 'node:timers/promises'
import type { FailureGroupId } from '../../errors/failure-group.ts'
import { LockTimeoutError, SheetError } from '../../errors/service-error.ts'
import { runStepsKey, stepCountsIn, type StepCounts } from '../../derivation/plan/run-steps.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { RunFailure, RunId, StoredRun } from '../../store/stored-run.ts'
import { openCursor, signCursor } from '../cursor.ts'
import { pageLimit } from '../page-limit.ts'
import type { Sheet } from '../sheet.ts'

export interface PageOptions {
  /** The page size; null is 50, more than 10,000 is lowered to that. */
  readonly limit: number | null
  readonly cursor: string | null
}

/** A run with the records of its request, and the results of its steps; null when the request had no filter. */
export interface RunDetail {
  readonly run: StoredRun
  readonly recordIds: readonly string[] | null
  /** The results of fallbacks by step; empty without any. */
  readonly steps: readonly StepCounts[]
}

export interface RunList {
  readonly runs: readonly StoredRun[]
  readonly nextCursor: string | null
}

export interface RunFailureList {
  readonly failures: readonly RunFailure[]
  readonly nextCursor: string | null
}

/** Reads a run. Throws SheetError for an unknown one. */
export async function getRun(sheet: Sheet, id: RunId): Promise<StoredRun> {
  const { store } = await sheet.current()
  const run = await store.run(id)
  if (run === null) throw unknownRun(id)
  if (run.state !== 'running' || sheet.runs.get(id) !== undefined) return withProgress(sheet, run)
  await findInterrupted(sheet, store)
  return (await store.run(id)) ?? run
}

/** Reads a run with the records of its request and the results of its steps. Throws SheetError for an unknown one. */
export async function getRunDetail(sheet: Sheet, id: RunId): Promise<RunDetail> {
  const run = await getRun(sheet, id)
  const { store } = await sheet.current()
  const [recordIds, usage] = await Promise.all([store.runRecordIds(id), store.usage(runStepsKey(id))])
  return { run, recordIds, steps: stepCountsIn(usage) }
}

/** Lists runs of the sheet, newest first. Throws ValidationError for a bad limit or cursor. */
export async function listRuns(sheet: Sheet, options: PageOptions): Promise<RunList> {
  const limit = pageLimit(options.limit)
  const { store } = await sheet.current()
  const { cursor } = options
  const before = cursor === null ? null : String(openCursor(store.cursorKey, cursor, RUNS))
  // One more than asked for shows whether another page follows.
  const read = (): Promise<readonly StoredRun[]> => store.runs({ before, limit: limit + 1 })
  let found = await read()
  if (found.some(({ id, state }) => state === 'running' && sheet.runs.get(id) === undefined)) {
    await findInterrupted(sheet, store)
    found = await read()
  }
  const runs = found.slice(0, limit).map((run) => withProgress(sheet, run))
  const last = await lastOf(runs, found, ({ id }) => store.runs({ before: id, limit: 1 }))
  return {
    runs,
    nextCursor: last === undefined ? null : signCursor(store.cursorKey, Number(last.id), RUNS),
  }
}

/** Lists the cells that failed in a run, oldest failure first. Throws SheetError, and ValidationError. */
export async function listRunFailures(
  sheet: Sheet,
  id: RunId,
  {
    group = null,
    ...options
  }: PageOptions & {
    /** Only failures of this group; null for all. */
    readonly group?: FailureGroupId | null
  },
): Promise<RunFailureList> {
  const limit = pageLimit(options.limit)
  const { store } = await sheet.current()
  if ((await store.run(id)) === null) throw unknownRun(id)
  const { cursor } = options
  const scope = `failures of run ${id}${group === null ? '' : ` of ${group}`}`
  const after = cursor === null ? 0 : openCursor(store.cursorKey, cursor, scope)
  const found = await store.runFailures({ run: id, after, limit: limit + 1, group })
  const failures = withinBytes(found.slice(0, limit))
  const last = await lastOf(failures, found, ({ number }) =>
    store.runFailures({ run: id, after: number, limit: 1, group }),
  )
  return {
    failures,
    nextCursor: last === undefined ? null : signCursor(store.cursorKey, last.number, scope),
  }
}

/**
 * Returns the last item of a page if another page follows it, else undefined. `found` are the items that were read for
 * the page, and `next` reads the items after one: where items are long, fewer are read than were asked for.
 */
async function lastOf<T>(
  page: readonly T[],
  found: readonly unknown[],
  next: (last: T) => Promise<readonly T[]>,
): Promise<T | undefined> {
  const last = page.at(-1)
  if (last === undefined || found.length > page.length) return last
  return (await next(last)).length > 0 ? last : undefined
}

/** The most characters of response bodies on a page of failures; beyond that the page is shorter. */
const BODIES_ON_PAGE = 1 << 20

/** Returns the first failures that fit within the limit; at least one. */
function withinBytes(failures: readonly RunFailure[]): readonly RunFailure[] {
  let budget = BODIES_ON_PAGE
  const end = failures.findIndex(({ responseBody = '' }) => (budget -= responseBody.length) < 0)
  return end === -1 ? failures : failures.slice(0, Math.max(1, end))
}

const RUNS = 'runs'

/** The minimum interval, in milliseconds, between checks for interrupted runs, which take the run lock for a moment. */
const CHECK_INTERVAL_MS = 250

/** The last check for interrupted runs of a sheet; requests before the next one is due share that. */
const CHECKS = new WeakMap<Sheet, { readonly at: number; next: Promise<void> | null }>()

/** Creates the error for a run that does not exist. */
export function unknownRun(id: RunId): SheetError {
  return new SheetError(`no run ${JSON.stringify(id.slice(0, 100))}`, 'unknown_run', {
    hint: {
      action: 'list_runs',
    },
  })
}

/** Returns the run with the counts of this process, which are newer than the stored ones. */
function withProgress(sheet: Sheet, run: StoredRun): StoredRun {
  const active = sheet.runs.get(run.id)
  return run.state !== 'running' || active === undefined ? run : { ...run, ...active.feed.progress }
}

/**
 * Finds runs whose process ended before they did. This takes the run lock: a run that had it and has not ended is
 * interrupted. While another run has the lock there is nothing to find, since that run has checked.
 */
function findInterrupted(sheet: Sheet, store: SheetStore): Promise<void> {
  const last = CHECKS.get(sheet) ?? { at: -Infinity, next: null }
  const check = async (): Promise<void> => {
    await delay(Math.max(0, last.at + CHECK_INTERVAL_MS - performance.now()))
    CHECKS.set(sheet, { at: performance.now(), next: null })
    await markInterrupted(sheet, store)
  }
  CHECKS.set(sheet, last)
  return (last.next ??= check())
}

async function markInterrupted(sheet: Sheet, store: SheetStore): Promise<void> {
  try {
    const lock = await store.lockRun(0, sheet.stopping)
    try {
      await store.interruptRuns(null)
    } finally {
      lock.release()
    }
  } catch (error) {
    if (!(error instanceof LockTimeoutError)) throw error
  }
}
