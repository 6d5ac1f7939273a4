import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunLock, RunOrder } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import type { Sheet } from '../../sheet.ts'
import type { RunFrames } from './run-frames.ts'

/** A run that this process has accepted or taken over. */
export interface AcceptedRun {
  readonly sheet: Sheet
  readonly store: SheetStore
  readonly active: ActiveRun
  readonly order: RunOrder
  readonly frames: RunFrames
}

/** A run that has the run lock. */
export interface LockedRun extends AcceptedRun {
  readonly lock: RunLock
  /** Whether it was taken over from another process: when this one is stopped, another takes it over again. */
  readonly wasOrphaned?: boolean
}
