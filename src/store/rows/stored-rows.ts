import type { JsonObject } from '../../contract/json/json.ts'
import type { ErrorCode, ErrorType } from '../../errors/codes.ts'
import type { PendingInput } from '../../errors/block.ts'
import type { FailureReason } from '../../errors/failure.ts'
import { readyCounts } from '../cell-state.ts'
import type { CacheEntry, WorkCell } from '../cell-work.ts'
import type { CellFailureNote, CellState, EntryHead, StoreStatus, WorkState } from '../sheet-store.ts'
import type { StoredProposal } from '../stored-proposal.ts'
import type { RunError, RunOrder, StoredRun } from '../stored-run.ts'

/**
 * Conversions of rows of tables that are the same in both engines. A row has its columns by name, and null for no value.
 */

/** A row of either engine. */
type Row = Readonly<Record<string, unknown>>

/** States of `$todo`. */
export const MISSING = 1
export const STALE = 2
export const FAILED = 3

export type TodoState = typeof MISSING | typeof STALE | typeof FAILED

export const TODO_STATES = { missing: MISSING, stale: STALE, failed: FAILED } as const satisfies Record<
  WorkState,
  TodoState
>

/** Returns the text of a column; null for any other value. */
export function textOrNull(stored: unknown): string | null {
  return typeof stored === 'string' ? stored : null
}

/** Returns the head of the entry with this seq, whose line may not be one of a provenance log. */
export function entryHead(seq: number, line: JsonObject | null): EntryHead {
  const { at, actor, source } = line ?? {}
  return { seq, at: textOrNull(at), actor: textOrNull(actor), source: textOrNull(source) }
}

/** Returns the id of a run or proposal from the column of its number, which PostgreSQL returns as text; null for none. */
function idOrNull(stored: unknown): string | null {
  return typeof stored === 'number' ? String(stored) : textOrNull(stored)
}

/** Returns the number of a run or proposal; null for a text that is not an id, which as a parameter finds nothing. */
export function runNumber(id: unknown): number | null {
  return typeof id === 'string' && /^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : null
}

export const HASH_PREFIX = 'sha256:'

/** Returns the bytes of `sha256:<hex>`. */
export function hashBytes(inputHash: string): Uint8Array {
  return Buffer.from(inputHash.slice(HASH_PREFIX.length), 'hex')
}

/** Returns `sha256:<hex>` of these bytes. */
export function hashText(bytes: Uint8Array): string {
  return `${HASH_PREFIX}${Buffer.from(bytes).toString('hex')}`
}

/** Returns a cache entry from its column. */
export function readCacheEntry(inputHash: string, stored: unknown): CacheEntry {
  return { inputHash, ...(JSON.parse(String(stored)) as Omit<CacheEntry, 'inputHash'>) }
}

/** Returns the column of a cache entry. */
export function cacheEntryText({ values, provenance }: Omit<CacheEntry, 'inputHash'>): string {
  return JSON.stringify({ values, provenance })
}

/**
 * Merges a cache entry with another one for its hash, target by target; null when the values are the same: the first call
 * explains them as well.
 */
export function joinedCacheEntry(before: CacheEntry, entry: CacheEntry): CacheEntry | null {
  const values = { ...before.values, ...entry.values }
  return JSON.stringify(values) === JSON.stringify(before.values) ? null : { ...entry, values }
}

/**
 * Returns the version of a cell from those of its two rows, where they exist, and the last change of fields that concerned
 * its target.
 */
export function versionOf(cell: unknown, todo: unknown, changed: number): string {
  const version = `${Number(cell ?? 0)}.${Number(todo ?? 0)}`
  return changed === 0 ? version : `${version}.${changed}`
}

/** The columns of a cell in its tables, null where a row is missing. Hashes are hex, which is faster to read than bytes. */
export type CellColumns = readonly [
  hash: unknown,
  cellVersion: unknown,
  state: unknown,
  todoVersion: unknown,
  blocked: unknown,
  /** The time and the input hash of its failure, where these are read. */
  failedAt: unknown,
  failedHash: unknown,
]

/** Returns a target's cell from its columns; `changed` as in {@link versionOf}. */
export function workCell(target: string, columns: CellColumns, changed: number): WorkCell {
  const [hash, cellVersion, state, todoVersion, blocked, failedAt, failedHash] = columns
  const hex = textOrNull(hash)
  const overridden = hex === null && cellVersion !== null
  return {
    target,
    state: overridden ? 'overridden' : stateOf(state),
    blocked: Boolean(blocked),
    inputHash: hex === null ? null : HASH_PREFIX + hex,
    ...(overridden && { touchedBy: Number(cellVersion) }),
    version: versionOf(cellVersion, todoVersion, changed),
    ...(typeof failedAt === 'string' && { failure: { at: failedAt, inputHash: hashOrNull(failedHash) } }),
  }
}

function hashOrNull(hex: unknown): string | null {
  return typeof hex === 'string' ? HASH_PREFIX + hex : null
}

/** Returns the state of an input that is a cell, from its columns of `$todo`; undefined where it is not pending. */
export function pendingInput(state: unknown, blocked: unknown): PendingInput | undefined {
  if (state === null || state === undefined) return undefined
  if (blocked === 1 || blocked === true) return 'blocked'
  return state === FAILED ? 'failed' : state === MISSING ? 'missing' : 'stale'
}

function stateOf(todo: unknown): CellState {
  switch (todo) {
    case FAILED:
      return 'failed'
    case MISSING:
      return 'missing'
    case STALE:
      return 'stale'
    default:
      return 'fresh'
  }
}

/** The column `request` of a run, as JSON. */
export type StoredRequest = Omit<RunOrder, 'kind' | 'reverts' | 'actor' | 'recordIds'> &
  Pick<StoredRun, 'recordCount'>

/** Milliseconds for which a waiting run may be silent beyond what it announced, before it counts as orphaned. */
export const WAIT_GRACE_MS = 1000

/** Returns the time so many milliseconds after another. */
export function later(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString()
}

/** Returns a run from a row of `$run`. */
export function storedRun(row: Row): StoredRun {
  const count = (column: string): number => Number(row[column])
  const [materialized, skipped, failed] = [count('materialized'), count('skipped'), count('failed')]
  return {
    id: String(row['id']),
    kind: row['kind'] as StoredRun['kind'],
    reverts: idOrNull(row['reverts']),
    actor: String(row['actor']),
    ...storedRequest(row['request']),
    state: row['state'] as StoredRun['state'],
    startedAt: String(row['started_at']),
    endedAt: textOrNull(row['ended_at']),
    done: materialized + skipped + failed,
    total: count('total'),
    materialized,
    skipped,
    failed,
    calls: count('calls'),
    totalCost: count('total_cost'),
    unpricedCalls: count('unpriced_calls'),
    left: count('left_cells'),
    manualLeft: count('manual_left'),
    manualOverwritten: count('manual_overwritten'),
    error: row['error_type'] === null ? null : storedError(row),
    cancelledBy: textOrNull(row['cancelled_by']),
  }
}

/**
 * Returns the request of a run. Runs of earlier versions reused no responses, and did not stop at failures. Those with
 * force overwrote manual values; they are read without it, so that a repeated run does not overwrite any.
 */
function storedRequest(stored: unknown): StoredRequest {
  const older = JSON.parse(String(stored)) as OlderRequest
  const { overwriteManual = false, reuseResponses = false, stopAfterFailures = null, ...request } = older
  return { ...request, overwriteManual, reuseResponses, stopAfterFailures }
}

type NewerMember = 'overwriteManual' | 'reuseResponses' | 'stopAfterFailures'

type OlderRequest = Omit<StoredRequest, NewerMember> & Partial<Pick<StoredRequest, NewerMember>>

/** The error of a row of `$run` or `$task` that has one. */
export function storedError(row: Row): RunError {
  return {
    type: row['error_type'] as ErrorType,
    code: textOrNull(row['error_code']) as ErrorCode | null,
    message: String(row['error']),
  }
}

/** Returns the failure of a cell from a row of `$failure`, or the same columns of one of `$run_failure`. */
export function storedCellFailure(row: Row): CellFailureNote {
  const responseBody = textOrNull(row['response_body'])
  return {
    error: String(row['error']),
    errorType: row['error_type'] as ErrorType,
    reason: textOrNull(row['reason']) as FailureReason | null,
    ...(responseBody !== null && { responseBody }),
    ...(row['hash'] instanceof Uint8Array && { inputHash: hashText(row['hash']) }),
    at: String(row['at']),
  }
}

/** Returns the status of a sheet from the rows of its active targets and the totals of the sheet. */
export function storedStatus(totals: Omit<StoreStatus, 'targets'>, targets: readonly Row[]): StoreStatus {
  return {
    ...totals,
    targets: targets.map((row) => {
      const count = (counter: string): number => Number(row[counter])
      const [missing, stale, failed] = [count('missing'), count('stale'), count('failed')]
      const [overridden, blocked] = [count('overridden'), count('blocked')]
      const [blockedStale, blockedFailed] = [count('blocked_stale'), count('blocked_failed')]
      return {
        field: String(row['field']),
        fresh: totals.total - missing - stale - failed - overridden,
        stale,
        missing,
        failed,
        overridden,
        blocked,
        ready: readyCounts({ missing, stale, failed, blocked, blockedStale, blockedFailed }),
        lastAt: textOrNull(row['last_at']),
        lastActor: textOrNull(row['last_actor']),
        lastError: failed > 0 ? textOrNull(row['last_error']) : null,
      }
    }),
  }
}

/** Returns a proposal from a row of `$proposal`. */
export function storedProposal(row: Row): StoredProposal {
  return {
    id: String(row['id']),
    kind: row['kind'] as StoredProposal['kind'],
    state: row['state'] as StoredProposal['state'],
    proposedBy: String(row['actor']),
    proposedAt: String(row['at']),
    note: textOrNull(row['note']),
    recordCount: Number(row['records']),
    decidedBy: textOrNull(row['decided_by']),
    decidedAt: textOrNull(row['decided_at']),
    reason: textOrNull(row['reason']),
  }
}
