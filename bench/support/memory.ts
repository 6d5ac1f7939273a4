import { readdirSync, readFileSync } from 'node:fs'

/** Bytes in a megabyte, as used in figures. */
const MB = 1e6
const CHECK_MS = 50

/** Memory of a process and of its children, in MB. Pages mapped from files do not count: the system can reclaim them. */
export interface MemoryUse {
  readonly own: number
  readonly children: number
  readonly total: number
}

/** Whether the system reports the memory of processes; only Linux does. */
export const TELLS_MEMORY = process.platform === 'linux'

export function memoryOf(pid: number): MemoryUse {
  const own = unsharedMb(pid)
  const children = sum(descendants(pid).map(unsharedMb))
  return { own, children, total: own + children }
}

/** Memory of a process and its children with the pages of files that they have mapped, in MB. */
export interface MappedMemory {
  /** The sum of their resident sets: pages that they share count once for each. */
  readonly rss: number
  /** The sum of their proportional sets: pages that they share count once, those shared with other programs in part. */
  readonly pss: number
  readonly processes: number
}

export function mappedMemoryOf(pid: number): MappedMemory {
  const pids = [pid, ...descendants(pid)]
  const texts = pids.map((one) => readOrNothing(`/proc/${one}/smaps_rollup`))
  return {
    rss: sum(texts.map((text) => megabytes(text, 'Rss'))),
    pss: sum(texts.map((text) => megabytes(text, 'Pss'))),
    processes: texts.filter((text) => text !== '').length,
  }
}

/** Returns the processor time that a process, its children and all their threads have used until now, in milliseconds. */
export function processorMsOf(pid: number): number {
  const threads = [pid, ...descendants(pid)].flatMap((one) =>
    readThreads(one).map((thread) => readOrNothing(`/proc/${one}/task/${thread}/schedstat`)),
  )
  return sum(threads.map((text) => Number(text.split(' ', 1)[0]) / 1e6))
}

/** Samples the memory of a process and its children; the returned function ends that and returns the maximum. */
export function watchMemory(pid: number): () => number {
  let most = 0
  const look = (): void => {
    most = Math.max(most, memoryOf(pid).total)
  }
  const timer = setInterval(look, CHECK_MS)
  look()
  return () => {
    clearInterval(timer)
    return most
  }
}

/** Returns anonymous and shared memory, without pages of files; 0 for an ended process. */
function unsharedMb(pid: number): number {
  const status = readOrNothing(`/proc/${pid}/status`)
  return megabytes(status, 'RssAnon') + megabytes(status, 'RssShmem')
}

/** Returns the amount on the line of this name, of a file such as `/proc/1/status`; 0 without one. */
function megabytes(text: string, name: string): number {
  return (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024) / MB
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function descendants(pid: number): number[] {
  const children = readThreads(pid).flatMap((thread) =>
    readOrNothing(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  )
  return children.flatMap((child) => [child, ...descendants(child)])
}

function readThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
