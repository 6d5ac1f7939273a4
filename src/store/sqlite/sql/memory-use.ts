import { readFileSync } from 'node:fs'

/** Bytes of memory that the process itself has taken: on Linux without mapped files, elsewhere all that is resident. */
export function memoryUse(): number {
  if (process.platform !== 'linux') return process.memoryUsage.rss()
  const kilobytes = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
  return kilobytes === undefined ? process.memoryUsage.rss() : Number(kilobytes) * 1024
}
