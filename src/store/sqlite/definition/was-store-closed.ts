import { statSync } from 'node:fs'
import type { StorePaths } from './create-store.ts'

/**
 * Whether the last process that had a store open closed it, rather than being killed: SQLite then removes the write-ahead
 * log. Call it before the store is opened. An empty log that is younger than the last line of the provenance log was
 * created by a process that only read, such as `colophon validate`.
 */
export function wasStoreClosed({ database, log }: StorePaths): boolean {
  const ahead = statSync(`${database}-wal`, { throwIfNoEntry: false })
  if (ahead === undefined) return true
  const lines = statSync(log, { throwIfNoEntry: false })
  return ahead.size === 0 && lines !== undefined && ahead.mtimeMs > lines.mtimeMs
}
