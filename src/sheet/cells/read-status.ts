import type { ReadyCounts } from '../../store/cell-state.ts'
import type { CellCounts } from '../../store/definition-change.ts'
import { selectTargets } from '../select-targets.ts'
import type { Sheet } from '../sheet.ts'

/** The state of one derived field (D32). The five counts `fresh` to `overridden` add up to `totalRecords`. */
export interface TargetStatusReport extends CellCounts {
  readonly derivation: string
  readonly kind: string
  readonly totalRecords: number
  /** The pending cells that a run computes, by state. */
  readonly ready: ReadyCounts
  readonly lastAt: string | null
  readonly lastActor: string | null
  readonly lastError: string | null
}

/** Reads the state of these derived fields, or of all. Throws OperationError for one that no derivation computes. */
export async function readStatus(
  sheet: Sheet,
  targets: readonly string[] | null,
): Promise<Readonly<Record<string, TargetStatusReport>>> {
  const { store, derivations } = await sheet.deriving()
  const selected = selectTargets(derivations, targets)
  const { total, targets: states } = await store.status()
  const reports: Record<string, TargetStatusReport> = Object.create(null) as Record<
    string,
    TargetStatusReport
  >
  for (const { field, ...state } of states) {
    const derivation = derivations.byTarget.get(field)
    if (derivation === undefined || !selected.has(field)) continue
    reports[field] = {
      derivation: derivation.file,
      kind: derivation.kind.name,
      totalRecords: total,
      ...state,
    }
  }
  return reports
}
