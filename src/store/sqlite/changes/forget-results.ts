import { cacheEntryText, hashBytes, readCacheEntry } from '../../rows/stored-rows.ts'
import type { CachedResult } from '../../rules/store-change.ts'
import type { Connection } from '../database/connection.ts'

/** Removes results of derivations from the cache, so that no later run uses them for this or another record. */
export function forgetResults(db: Connection, results: readonly CachedResult[]): void {
  for (const { inputHash, target } of results) {
    const hash = hashBytes(inputHash)
    const stored = db.get('SELECT entry FROM "$cache" WHERE hash = ?', hash)
    if (stored === undefined) continue
    const { values, provenance } = readCacheEntry(inputHash, stored['entry'])
    const left = Object.fromEntries(Object.entries(values).filter(([name]) => name !== target))
    if (Object.keys(left).length === 0) {
      db.run('DELETE FROM "$cache" WHERE hash = ?', hash)
    } else {
      db.run(
        'UPDATE "$cache" SET entry = ? WHERE hash = ?',
        cacheEntryText({ values: left, provenance }),
        hash,
      )
    }
  }
}
