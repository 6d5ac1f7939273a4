import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { MEMORY_LIMIT_MESSAGE, memoryUse } from './memory-use.ts'
import type { WatchdogData } from './start-watchdog.ts'

/**
 * The thread that watches a query process while SQLite blocks its main thread: nothing else can stop a statement. It ends
 * the whole process when that takes too much memory, or when its parent has ended.
 */

/** Milliseconds between two checks of memory. */
const INTERVAL_MS = 20

const { flags, flag, parentPid, maxMemoryBytes } = workerData as WatchdogData

try {
  watch()
} catch (error) {
  // No query may run unwatched.
  end(`the watchdog failed: ${error instanceof Error ? error.message : String(error)}`)
}

function watch(): never {
  Atomics.store(flags, flag.watching, 1)
  Atomics.notify(flags, flag.watching)
  for (;;) {
    Atomics.wait(flags, flag.busy, 0)
    if (memoryUse() > maxMemoryBytes) end(MEMORY_LIMIT_MESSAGE)
    if (parentIsGone()) end('the parent is gone')
    Atomics.wait(flags, flag.watching, 1, INTERVAL_MS)
  }
}

function parentIsGone(): boolean {
  if (process.platform !== 'win32') return process.ppid !== parentPid
  try {
    process.kill(parentPid, 0)
    return false
  } catch {
    return true
  }
}

function end(message: string): void {
  try {
    writeSync(2, message)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}
