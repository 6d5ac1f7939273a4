import { OperationError } from '../errors/service-error.ts'
import type { EntryRef, RevertResult, SheetStore } from '../store/sheet-store.ts'
import type { RunId, RunOrder } from '../store/stored-run.ts'
import { ActiveRun, NO_PROGRESS } from './active-run.ts'
import { getRun } from './read-runs.ts'
import { resolveActor, type GivenActor } from './resolve-actor.ts'
import { runToEnd } from './run-to-end.ts'
import { unknownFields } from './select-fields.ts'
import type { Sheet } from './sheet.ts'
import { SILENT_MS } from './with-run-lock.ts'

/** Entries that are undone as one change. */
const ENTRIES_AT_ONCE = 500

export interface RevertCellRequest {
  readonly recordId: string
  readonly field: string
  /** Of the provenance entry to undo. */
  readonly seq: number
  readonly actor: GivenActor
}

export interface RevertRunRequest {
  /** The run to undo. */
  readonly runId: RunId
  readonly actor: GivenActor
}

/** What a revert came to: cells put back, and cells left since they do not hold any more what was to be undone. */
export interface RevertReport extends RevertResult {
  /** The run that the revert was, by which it can be reverted; null for a single cell. */
  readonly runId: RunId | null
}

/** A revert of a run under way. */
export interface StartedRevert {
  readonly id: RunId
  /** What it comes to; rejects with what ended it early. */
  readonly done: Promise<RevertReport>
}

/**
 * Undoes one provenance entry: the cell gets back the value from before it, or is a conflict and is left. A derived cell
 * is then missing, overridden or computed again as it was; what was computed may be stale.
 * Throws ValidationError for an unknown field, for `id`, and without an actor; SheetError for a record or an entry that
 * never existed; PermissionDeniedError (D7); ContractError.
 */
export async function revertCell(sheet: Sheet, request: RevertCellRequest): Promise<RevertReport> {
  const { recordId, field, seq } = request
  const actor = resolveActor(sheet, request.actor)
  const { contract, store } = await sheet.deriving()
  if (!contract.fieldByName.has(field)) throw unknownFields(contract, [field])
  const result = await store.revert({ actor, entries: [{ seq, recordId, field }], run: null })
  return { ...result, runId: null }
}

/**
 * Undoes what a run wrote, as a run of its own, which can be listed, cancelled and reverted like any other; it publishes
 * no frames on `/events`. Resolves when the store knows of it. It goes in steps, and what a step has put back stays,
 * whatever ends it early: to go on, revert the same run again, and what was put back before is then among the conflicts.
 * Throws ValidationError without an actor, SheetError for an unknown run, OperationError for one that is still running,
 * ContractError.
 */
export async function startRevert(sheet: Sheet, request: RevertRunRequest): Promise<StartedRevert> {
  const actor = resolveActor(sheet, request.actor)
  const { promise, resolve, reject } = Promise.withResolvers<StartedRevert>()
  const started = (id: RunId): void => resolve({ id, done })
  const done: Promise<RevertReport> = sheet.during(
    revertRun(sheet, { actor, reverts: request.runId }, started),
  )
  done.catch(reject)
  return promise
}

type RevertOrder = Pick<RunOrder, 'actor'> & { readonly reverts: RunId }

async function revertRun(
  sheet: Sheet,
  { actor, reverts }: RevertOrder,
  onStarted: (id: RunId) => void,
): Promise<RevertReport> {
  sheet.stopping.throwIfAborted()
  const { store } = await sheet.deriving()
  const { state } = await getRun(sheet, reverts)
  if (state === 'running') {
    throw new OperationError(
      `run ${reverts} is still running; wait for its end, or cancel it first with POST /api/runs/${reverts}/cancel`,
    )
  }
  const id = await store.startRun({ ...UNFILTERED, kind: 'revert', reverts, actor, silentMs: SILENT_MS })
  const active = new ActiveRun(id, sheet.stopping, store.frames)
  const result = await sheet.runs.during(active, store, () => {
    onStarted(id)
    return runToEnd(sheet, active, () => undoRun(store, active, { actor, reverts }))
  })
  return { ...result, runId: id }
}

const UNFILTERED = {
  targets: null,
  recordIds: null,
  force: false,
  only: null,
  limit: null,
  maxCalls: null,
  maxCost: null,
  reuseResponses: false,
  stopAfterFailures: null,
} as const

/**
 * Undoes the entries of a run, the last first: then every step leaves the cells as they were at some moment of that run,
 * so that no value of a unique field is in the way of another that goes back later. A run writes each cell once.
 */
async function undoRun(
  store: SheetStore,
  { id, signal, feed }: ActiveRun,
  { actor, reverts }: RevertOrder,
): Promise<RevertResult> {
  const total = await store.runEntryCount(reverts)
  await store.runLocked(id, { total, absent: [] })
  feed.onProgress({ ...NO_PROGRESS, total })
  const conflicts: RevertResult['conflicts'][] = []
  for (let before: number | null = null; ;) {
    signal.throwIfAborted()
    const entries: readonly EntryRef[] = await store.runEntries({
      run: reverts,
      before,
      limit: ENTRIES_AT_ONCE,
    })
    const first = entries.at(-1)
    if (first === undefined) break
    before = first.seq
    const step = await store.revert({ actor, entries, run: id })
    conflicts.push(step.conflicts)
    const { done, materialized, skipped } = feed.progress
    feed.onProgress({
      ...feed.progress,
      done: done + entries.length,
      materialized: materialized + step.reverted,
      skipped: skipped + step.conflicts.length,
    })
  }
  return { reverted: feed.progress.materialized, conflicts: conflicts.flat().toReversed() }
}
