import { readCacheEntries } from './cache-entries.ts'
import type { Connection } from '../database/connection.ts'
import type { CachedResult } from '../../rules/store-change.ts'
import { cacheEntryText, hashBytes } from '../../rows/stored-rows.ts'

/** Removes results of derivations from the cache, so that no later run uses them for these or other records. */
export async function forgetResults(db: Connection, results: readonly CachedResult[]): Promise<void> {
  const targets = Map.groupBy(results, ({ inputHash }) => inputHash)
  const entries = await readCacheEntries(db, [...targets.keys()])
  if (entries.size === 0) return
  const left = [...entries.values()].map(({ inputHash, values, provenance }) => {
    const gone = new Set(targets.get(inputHash)?.map(({ target }) => target))
    const kept = Object.entries(values).filter(([target]) => !gone.has(target))
    const entry = kept.length === 0 ? null : cacheEntryText({ values: Object.fromEntries(kept), provenance })
    return { hash: Buffer.from(hashBytes(inputHash)).toString('hex'), entry }
  })
  await db.run(
    `WITH forgotten AS (
       SELECT decode(hex, 'hex') AS hash, entry FROM unnest($1::text[], $2::text[]) AS wanted(hex, entry)
     ), emptied AS (
       DELETE FROM "$cache" USING forgotten WHERE "$cache".hash = forgotten.hash AND forgotten.entry IS NULL
     )
     UPDATE "$cache" SET entry = forgotten.entry FROM forgotten
     WHERE "$cache".hash = forgotten.hash AND forgotten.entry IS NOT NULL`,
    left.map(({ hash }) => hash),
    left.map(({ entry }) => entry),
  )
}
