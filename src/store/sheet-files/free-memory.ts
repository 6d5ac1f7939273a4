import { getHeapStatistics } from 'node:v8'
import { collectOnce } from './collect-garbage.ts'

/** Bytes by which V8's heap has grown from which on a collection is worth its pause. */
const MUCH = 64 * 1024 * 1024

/** Milliseconds after a run until memory is released, so that its response does not wait for that. */
const DELAY_MS = 1000

/** Returns the bytes of V8's heap. */
export function heapSize(): number {
  return getHeapStatistics().total_heap_size
}

/** Releases memory if the heap has grown much; `before` was {@link heapSize}. */
export function freeMemory(before: number): void {
  if (heapSize() - before > MUCH) collectOnce()
}

/** Releases the memory that a run has left, soon, as {@link freeMemory} does. Does not keep the process alive. */
export function freeMemorySoon(before: number): void {
  setTimeout(() => freeMemory(before), DELAY_MS).unref()
}
