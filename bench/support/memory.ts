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
  const children = descendants(pid).reduce((sum, child) => sum + unsharedMb(child), 0)
  return { own, children, total: own + children }
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
  const kib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
  return ((kib('RssAnon') + kib('RssShmem')) * 1024) / MB
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
