import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunId, RunOrder } from '../../../store/stored-run.ts'
import { ActiveRun, NO_PROGRESS } from '../../active-run.ts'
import type { Sheet } from '../../sheet.ts'
import { NO_SELECTION } from '../selection/no-selection.ts'
import { endRun, endRunEarly } from './end-run.ts'
import { SILENT_MS } from './with-run-lock.ts'

interface ImportRun {
  readonly sheet: Sheet
  readonly store: SheetStore
  readonly actor: string
  /** The name of the file. */
  readonly file: string
  /** The number of records of the file; 0 when it is not known. */
  readonly total: number
}

/**
 * Does the work of an import as a run, which can be listed, watched, cancelled and reverted like any other. It needs no run lock: it waits
 * for no other run, and computes nothing. When its process is gone, it is interrupted, and what it has written stays. Returns the result
 * and the id of the run; throws the error of the work.
 */
export async function runImport<T>(
  { sheet, store, actor, file, total }: ImportRun,
  work: (run: ActiveRun) => Promise<T>,
): Promise<{ readonly id: RunId; readonly result: T }> {
  const order: RunOrder = { ...NO_SELECTION, kind: 'import', reverts: null, actor, file }
  const id = await store.startRun({ ...order, silentMs: SILENT_MS })
  const active = new ActiveRun(id, sheet.stopping, store.frames)
  const run = { sheet, store, active }
  active.feed.onProgress({ ...NO_PROGRESS, total })
  return sheet.during(
    sheet.runs.during(active, store, async () => {
      const heartbeat = setInterval(() => {
        // A heartbeat that fails is followed by the next.
        void store.keepWaiting(id, SILENT_MS).catch(() => undefined)
      }, SILENT_MS / 3)
      try {
        const result = await work(active)
        await endRun(run)
        return { id, result }
      } catch (error) {
        // When the store cannot be written, the run is found to be interrupted later.
        await endRunEarly(run, active.signal.aborted ? active.signal.reason : error).catch(() => undefined)
        throw error
      } finally {
        clearInterval(heartbeat)
      }
    }),
  )
}
