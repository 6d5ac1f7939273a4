import type { Worker } from 'node:worker_threads'
import { IdleTimer } from './idle-timer.ts'

/** Milliseconds for which a thread waits for its next use. */
const KEPT_MS = 10_000

interface Spare {
  readonly worker: Worker
  /** Ends the thread if nothing uses it. */
  readonly end: IdleTimer
  readonly forget: () => void
}

/** The spare thread of each module: loading the modules of a thread takes longer than opening a store with it. */
const spares = new Map<string, Spare>()

/** Keeps a thread that has nothing open for the next use of its module, a while and unless there is one already. */
export function keepSpare(module: URL, worker: Worker): void {
  if (spares.has(module.href)) {
    void worker.terminate()
    return
  }
  const forget = (): void => void takeSpare(module)
  const end = new IdleTimer(KEPT_MS, () => {
    forget()
    void worker.terminate()
  })
  spares.set(module.href, { worker, end, forget })
  worker.once('error', forget).once('exit', forget)
  worker.unref()
  end.start()
}

/** Returns the spare thread of a module, which then belongs to the caller; undefined for none. */
export function takeSpare(module: URL): Worker | undefined {
  const spare = spares.get(module.href)
  if (spare === undefined) return undefined
  spares.delete(module.href)
  const { worker, end, forget } = spare
  end.cancel()
  return worker.off('error', forget).off('exit', forget)
}
