import { useQuery } from '@tanstack/react-query'
import { useMemo, useSyncExternalStore } from 'react'
import { runQuery } from '../../api/queries.ts'
import type { CellStateName } from '../../ui/cell-state.tsx'
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
}

/** Returns the scope and progress of the current run. */
export function useRunning(): RunningScope & { readonly progress: RunProgress | null } {
  const { run } = useRunningRun()
  const isComputing = run !== null && run.kind === 'materialize'
  const isLimited = isComputing && run.record_count !== null
  // Lists have only the number of records of a run.
  const { data } = useQuery({ ...runQuery(run?.id ?? ''), enabled: isLimited })
  const targets = useSet(!isComputing ? null : run.targets, isComputing ? ALL : null)
  const ids = data !== undefined && data.id === run?.id ? (data.record_ids ?? []) : []
  const records = useSet(isLimited ? ids : null, null)
  return { targets, records, only: run?.only ?? null, progress: run }
}

const LEFT_ALONE: ReadonlySet<CellStateName> = new Set(['fresh', 'overridden', 'blocked'])

/** Whether a run computes a derived cell in this state; fresh, overridden and blocked cells are skipped. */
export function isComputed(
  { targets, records, only }: RunningScope,
  cell: { readonly recordId: string; readonly field: string },
  state: CellStateName | undefined,
): boolean {
  if (targets === null || state === undefined || LEFT_ALONE.has(state)) return false
  const isTarget = targets === ALL || targets.has(cell.field)
  return isTarget && (records === null || records.has(cell.recordId)) && (only === null || only === state)
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
