import { useQuery } from '@tanstack/react-query'
import { useMemo, useSyncExternalStore } from 'react'
import { runQuery } from '../../api/queries.ts'
import type { CellStateName } from '../../ui/cell-state.tsx'
import type { CellsUnderWay } from './cells-under-way.ts'
import { runningStore, type Running, type RunProgress } from './running-store.ts'

const ALL = 'all'

/** The scope of a run. */
export interface RunningScope {
  /** Null for none. */
  readonly targets: ReadonlySet<string> | 'all' | null
  /** Null for all. */
  readonly records: ReadonlySet<string> | null
  /** The only state in which cells are computed; null for any. */
  readonly only: string | null
  /** Whether the bounds of the run may leave out some of these cells. */
  readonly isBounded: boolean
  /** The cells for which a call is under way. */
  readonly underWay: CellsUnderWay
}

/** Returns the scope and progress of the current run. */
export function useRunning(): RunningScope & { readonly progress: RunProgress | null } {
  const { run, underWay } = useRunningRun()
  const isComputing = run !== null && run.kind === 'materialize'
  const isLimited = isComputing && run.record_count !== null
  // Lists have only the number of records of a run.
  const { data } = useQuery({ ...runQuery(run?.id ?? ''), enabled: isLimited })
  const targets = useSet(!isComputing ? null : run.targets, isComputing ? ALL : null)
  const ids = data !== undefined && data.id === run?.id ? (data.record_ids ?? []) : []
  const records = useSet(isLimited ? ids : null, null)
  const isBounded = [run?.limit, run?.max_calls, run?.max_cost].some((bound) => typeof bound === 'number')
  return { targets, records, only: run?.only ?? null, isBounded, underWay, progress: run }
}

/** The states of cells that a run has yet to compute. One that failed may have failed in this run. */
const PENDING: ReadonlySet<CellStateName> = new Set(['missing', 'stale'])

/** Returns the state of a derived cell during a run: `running`, `queued`, or the stored one. */
export function stateInRun(
  { targets, records, only, isBounded, underWay }: RunningScope,
  cell: { readonly recordId: string; readonly field: string },
  state: CellStateName | undefined,
): CellStateName | undefined {
  if (targets === null || state === undefined) return state
  if (underWay.has(cell) && state !== 'overridden') return 'running'
  // Which cells the bounds leave out is known only at the end.
  if (isBounded || !PENDING.has(state)) return state
  const isTarget = targets === ALL || targets.has(cell.field)
  const isInScope = isTarget && (records === null || records.has(cell.recordId))
  return isInScope && (only === null || only === state) ? 'queued' : state
}

/** Returns the current run. */
export function useRunningRun(): Running {
  return useSyncExternalStore(runningStore.subscribe, () => runningStore.running)
}

/** Returns the same set while its names are the same; `other` for null. */
function useSet<T>(names: readonly string[] | null, other: T): ReadonlySet<string> | T {
  const key = names === null ? null : JSON.stringify(names)
  return useMemo(() => (key === null ? other : new Set(JSON.parse(key) as string[])), [key, other])
}
