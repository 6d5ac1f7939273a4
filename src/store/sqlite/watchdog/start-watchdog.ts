import { Worker } from 'node:worker_threads'
import { entryModule } from '../../../package/package-files.ts'

/** The data of the watchdog thread. */
export interface WatchdogData {
  /** Shared between the threads; `flag` has the index of each element. */
  readonly flags: Int32Array<SharedArrayBuffer>
  readonly flag: { readonly watching: number; readonly busy: number }
  readonly parentPid: number
  readonly maxMemoryBytes: number
}

export interface Watchdog {
  /** Watches the process while `action` runs. */
  during(action: () => void): void
}

/** Milliseconds that the thread may take to start, even on a busy machine. */
const START_MS = 30_000

const FLAG = { watching: 0, busy: 1 } as const

/** Starts the thread that watches this process, and waits until it does. */
export function startWatchdog(limits: Pick<WatchdogData, 'parentPid' | 'maxMemoryBytes'>): Watchdog {
  const flags = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  const workerData: WatchdogData = { flags, flag: FLAG, ...limits }
  // Without the standard streams: to use them makes their descriptors non-blocking.
  new Worker(entryModule(import.meta.url, 'watchdog-thread'), {
    workerData,
    stdout: true,
    stderr: true,
  })
  if (Atomics.wait(flags, FLAG.watching, 0, START_MS) === 'timed-out')
    throw new Error('the watchdog does not start')
  return {
    during(action) {
      Atomics.store(flags, FLAG.busy, 1)
      Atomics.notify(flags, FLAG.busy)
      try {
        action()
      } finally {
        Atomics.store(flags, FLAG.busy, 0)
      }
    },
  }
}
