import type { RunTasks } from '../../../store/run-tasks.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunLock, RunOrder } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import type { RunFrames } from './run-frames.ts'
import type { Sheet } from '../../sheet.ts'

/** A run that this process coordinates. */
export interface CoordinatedRun {
  readonly sheet: Sheet
  readonly store: SheetStore
  readonly tasks: RunTasks
  readonly active: ActiveRun
  readonly order: RunOrder
  readonly frames: RunFrames
}

/** A coordinated run that has the run lock. */
export interface LockedRun extends CoordinatedRun {
  readonly lock: RunLock
  /** Whether it was taken over from another process: when this one is stopped, another takes it over again. */
  readonly wasOrphaned?: boolean
}
