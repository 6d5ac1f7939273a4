import { readFileSync } from 'node:fs'

/** The last line on the standard error of a process that ends itself at its memory limit. */
export const MEMORY_LIMIT_MESSAGE = 'memory limit reached'

/** Returns the bytes of memory of the process: on Linux without mapped files, elsewhere all resident memory. */
export function memoryUse(): number {
  if (process.platform !== 'linux') return process.memoryUsage.rss()
  const kilobytes = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
  return kilobytes === undefined ? process.memoryUsage.rss() : Number(kilobytes) * 1024
}
