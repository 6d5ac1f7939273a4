import { watchMemory } from './memory.ts'
import type { OnStart } from './processes.ts'

/** The duration of some work, and the maximum memory of its process and children. */
export interface Watched<T> {
  readonly result: T
  readonly seconds: number
  readonly peakMb: number
}

/** Runs work with a process that it starts, and samples its memory meanwhile. */
export async function watched<T>(work: (onStart: OnStart) => Promise<T>): Promise<Watched<T>> {
  let stop = (): number => 0
  const start = performance.now()
  try {
    const result = await work((pid) => {
      stop = watchMemory(pid)
    })
    return { result, seconds: (performance.now() - start) / 1000, peakMb: stop() }
  } finally {
    stop()
  }
}
