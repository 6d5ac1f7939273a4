import type { CellCommit } from '../../cell-work.ts'
import { excessOf, limitOf, withinLimit, type ResponseTrim, type TrimResult } from '../../stored-responses.ts'
import { addLines, trimLines } from '../../rules/recording/recording.ts'
import { runAsync } from '../../rules/steps.ts'
import { HASH_PREFIX } from '../../rows/stored-rows.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { Connection } from '../database/connection.ts'

/** Rows that are read together to find the least recently used. */
const OLDEST_AT_ONCE = 1000

const NOTHING_REMOVED: TrimResult = { removed: 0, bytes: 0 }

/**
 * Stores the responses of a commit and its lines of the recording, notes which stored responses were used, and removes the
 * least recently used beyond the limit.
 */
export async function keepResponses(
  { db, at }: ChangeSet,
  { responses = [], used = [], recorded = [] }: Pick<CellCommit, 'responses' | 'used' | 'recorded'>,
): Promise<void> {
  const now = Date.parse(at)
  if (used.length > 0) {
    await db.run(
      `UPDATE "$response" SET used = $1 WHERE hash IN (SELECT decode(wanted, 'hex') FROM unnest($2::text[]) AS wanted)`,
      now,
      used.map(hexOf),
    )
  }
  if (responses.length === 0 && recorded.length === 0) return
  const limit = await readLimit(db)
  await runAsync(addLines(db, { lines: recorded, at: now, limit }))
  if (responses.length === 0) return
  const kept = withinLimit(responses, limit)
  await db.run(
    `INSERT INTO "$response" (hash, at, used, bytes, status, duration_ms, body)
     SELECT decode(new.hash, 'hex'), $1, $1, new.bytes, new.status, new.duration_ms, new.body
     FROM unnest($2::text[], $3::bigint[], $4::int[], $5::int[], $6::text[]) AS new(hash, bytes, status, duration_ms, body)
     ON CONFLICT (hash) DO UPDATE SET at = excluded.at, used = excluded.used, bytes = excluded.bytes,
       status = excluded.status, duration_ms = excluded.duration_ms, body = excluded.body`,
    now,
    kept.map(({ response }) => hexOf(response.request)),
    kept.map(({ bytes }) => bytes),
    kept.map(({ response }) => response.status),
    kept.map(({ response }) => response.durationMs),
    kept.map(({ response }) => response.body),
  )
  // Replaced responses are counted twice until the limit seems to be exceeded: to look them up would cost every call.
  const added = kept.reduce((sum, { bytes }) => sum + bytes, 0)
  const sql = 'UPDATE "$sheet" SET response_bytes = response_bytes + $1 RETURNING response_bytes'
  const row = await db.get(sql, added)
  if (Number(row?.['response_bytes']) > limit) await removeUnused(db, excessOf(await countBytes(db), limit))
}

/** Removes kept responses; see {@link ResponseStore.trim}. */
export async function trimResponses(
  { db }: ChangeSet,
  { before, maxBytes }: ResponseTrim,
): Promise<TrimResult> {
  await runAsync(trimLines(db, { before, maxBytes }))
  const old =
    before === null
      ? NOTHING_REMOVED
      : await remove(db, 'DELETE FROM "$response" WHERE at < $1 RETURNING bytes', Date.parse(before))
  const left = await countBytes(db)
  const unused = maxBytes === null ? NOTHING_REMOVED : await removeUnused(db, left - maxBytes)
  return { removed: old.removed + unused.removed, bytes: old.bytes + unused.bytes }
}

/** Sets the limit, and removes what exceeds it. */
export async function limitResponses(change: ChangeSet, limit: number): Promise<TrimResult> {
  await change.db.run('UPDATE "$sheet" SET response_limit = $1', limit)
  return trimResponses(change, { before: null, maxBytes: limit })
}

/** Returns the most bytes of responses that are kept. */
export async function readLimit(db: Connection): Promise<number> {
  return limitOf((await db.get('SELECT response_limit FROM "$sheet"'))?.['response_limit'])
}

/** Removes the least recently used responses until so many bytes are free. */
async function removeUnused(db: Connection, excess: number): Promise<TrimResult> {
  let removed = 0
  let bytes = 0
  while (bytes < excess) {
    const gone = await remove(
      db,
      `DELETE FROM "$response" WHERE hash IN (
         SELECT hash FROM (
           SELECT hash, sum(bytes) OVER (ORDER BY used, hash) - bytes AS older
           FROM (SELECT hash, bytes, used FROM "$response" ORDER BY used, hash LIMIT ${OLDEST_AT_ONCE}) AS oldest
         ) AS counted WHERE older < $1
       ) RETURNING bytes`,
      excess - bytes,
    )
    if (gone.removed === 0) break
    removed += gone.removed
    bytes += gone.bytes
  }
  await countBytes(db)
  return { removed, bytes }
}

/** Carries out a statement that removes responses and returns their bytes. */
async function remove(db: Connection, sql: string, param: number): Promise<TrimResult> {
  const [row] = await db.all(
    `WITH gone AS (${sql}) SELECT count(*) AS removed, coalesce(sum(bytes), 0) AS bytes FROM gone`,
    param,
  )
  return { removed: Number(row?.['removed']), bytes: Number(row?.['bytes']) }
}

/** Counts the bytes of all kept responses, stores the sum and returns it. */
async function countBytes(db: Connection): Promise<number> {
  const row = await db.get(
    'UPDATE "$sheet" SET response_bytes = (SELECT coalesce(sum(bytes), 0) FROM "$response") RETURNING response_bytes',
  )
  return Number(row?.['response_bytes'])
}

function hexOf(hash: string): string {
  return hash.slice(HASH_PREFIX.length)
}
