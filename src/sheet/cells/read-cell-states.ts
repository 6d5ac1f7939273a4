import { setImmediate as nextTurn } from 'node:timers/promises'
import { shownState, type ShownCellState } from '../../store/cell-state.ts'
import type { RecordKey, WorkItem } from '../../store/cell-work.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { ProposedCell } from '../../store/stored-proposal.ts'
import { checkIds } from './check-ids.ts'
import { selectTargets } from '../select-targets.ts'
import type { Sheet } from '../sheet.ts'

export interface CellStatesQuery {
  readonly ids: readonly string[]
  /** Null for all derived fields. */
  readonly targets: readonly string[] | null
}

/** The state of each derived cell by target, for each record that exists by its id. */
export type CellStates = ReadonlyMap<string, Readonly<Record<string, ShownCellState>>>

/**
 * Returns the states (D32) of the derived cells of some records. Throws OperationError for a target that no derivation
 * computes, ValidationError for no ids or too many.
 */
export async function readCellStates(sheet: Sheet, { ids, targets }: CellStatesQuery): Promise<CellStates> {
  checkIds(ids)
  const { store, derivations } = await sheet.deriving()
  const selected = selectTargets(derivations, targets)
  const keys = [...(await store.recordKeys(ids)).values()].toSorted((a, b) => a - b)
  const states = new Map<string, Record<string, ShownCellState>>()
  for (const derivation of derivations.levels.flat()) {
    const asked = derivation.targets.filter((target) => selected.has(target))
    if (asked.length === 0) continue
    // The store may resolve at once: other requests are handled between derivations.
    await nextTurn()
    for (const { id, cells } of await cellsOf(store, asked, keys)) {
      const ofRecord = states.get(id) ?? {}
      for (const cell of cells) ofRecord[cell.target] = shownState(cell)
      states.set(id, ofRecord)
    }
  }
  return states
}

/**
 * Returns the cells of some records for which proposals wait, those of the newest proposal first. Throws ValidationError for no ids or too
 * many.
 */
export async function readProposedCells(
  sheet: Sheet,
  ids: readonly string[],
): Promise<readonly ProposedCell[]> {
  checkIds(ids)
  const { store } = await sheet.current()
  return store.proposals.cells(ids)
}

/** Reads the cells of targets of one derivation. */
function cellsOf(
  store: SheetStore,
  targets: readonly string[],
  only: readonly RecordKey[],
): Promise<readonly WorkItem[]> {
  return store.work({ targets, inputs: [], force: true, state: null, after: null, limit: only.length, only })
}
