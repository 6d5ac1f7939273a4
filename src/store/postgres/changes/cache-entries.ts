import type { CacheEntry } from '../../cell-work.ts'
import type { Connection } from '../database/connection.ts'
import {
  cacheEntryText,
  HASH_PREFIX,
  hashText,
  joinedCacheEntry,
  readCacheEntry,
} from '../../rows/stored-rows.ts'

/** Returns the cache entries of these input hashes, as far as they exist (D25). */
export async function readCacheEntries(
  db: Connection,
  hashes: readonly string[],
): Promise<Map<string, CacheEntry>> {
  if (hashes.length === 0) return new Map()
  const rows = await db.all(
    `SELECT hash, entry FROM "$cache" WHERE hash IN (SELECT decode(wanted, 'hex') FROM unnest($1::text[]) AS wanted)`,
    hashes.map((hash) => hash.slice(HASH_PREFIX.length)),
  )
  return new Map(
    rows.map(({ hash, entry }) => {
      const inputHash = hashText(hash as Buffer)
      return [inputHash, readCacheEntry(inputHash, entry)]
    }),
  )
}

/** Stores entries; values of a known hash are replaced target by target. */
export async function storeCacheEntries(db: Connection, entries: readonly CacheEntry[]): Promise<void> {
  if (entries.length === 0) return
  const known = await readCacheEntries(
    db,
    entries.map(({ inputHash }) => inputHash),
  )
  const changed = new Map<string, string>()
  for (const entry of entries) {
    const { inputHash } = entry
    const before = known.get(inputHash)
    const now = before === undefined ? entry : joinedCacheEntry(before, entry)
    if (now === null) continue
    known.set(inputHash, now)
    changed.set(inputHash, cacheEntryText(now))
  }
  if (changed.size === 0) return
  await db.run(
    `INSERT INTO "$cache" (hash, entry)
     SELECT decode(hash, 'hex'), entry FROM unnest($1::text[], $2::text[]) AS new(hash, entry)
     ON CONFLICT (hash) DO UPDATE SET entry = excluded.entry`,
    [...changed.keys()].map((hash) => hash.slice(HASH_PREFIX.length)),
    [...changed.values()],
  )
}
