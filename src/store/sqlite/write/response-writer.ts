import { excessOf, limitOf, withinLimit, type ResponseTrim, type TrimResult } from '../../stored-responses.ts'
import type { CellCommit } from '../../cell-work.ts'
import { addLines, trimLines } from '../../rules/recording/recording.ts'
import { runSync } from '../../rules/steps.ts'
import { hashBytes } from '../../rows/stored-rows.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { Connection } from '../database/connection.ts'

/** Responses that one statement inserts. */
const ROWS_AT_ONCE = 64

/** Rows that are read together to find the least recently used. */
const OLDEST_AT_ONCE = 1000

const ON_CONFLICT = `ON CONFLICT (hash) DO UPDATE SET at = excluded.at, used = excluded.used, bytes = excluded.bytes,
  status = excluded.status, duration_ms = excluded.duration_ms, body = excluded.body`

/**
 * Stores the responses of a commit and its lines of the recording, notes which stored responses were used, and removes the
 * least recently used beyond the limit.
 */
export function keepResponses(
  { db, at }: ChangeSet,
  { responses = [], used = [], recorded = [] }: Pick<CellCommit, 'responses' | 'used' | 'recorded'>,
): void {
  const now = Date.parse(at)
  for (const request of used)
    db.run('UPDATE "$response" SET used = ? WHERE hash = ?', now, hashBytes(request))
  if (responses.length === 0 && recorded.length === 0) return
  const limit = readLimit(db)
  runSync(addLines(db, { lines: recorded, at: now, limit }))
  if (responses.length === 0) return
  const kept = withinLimit(responses, limit)
  let added = 0
  for (let start = 0; start < kept.length; start += ROWS_AT_ONCE) {
    const rows = kept.slice(start, start + ROWS_AT_ONCE)
    const params = rows.flatMap(({ response, bytes }) => {
      added += bytes
      const { request, status, durationMs, body } = response
      return [hashBytes(request), now, now, bytes, status, durationMs, body]
    })
    const more = ', (?, ?, ?, ?, ?, ?, ?)'.repeat(rows.length - 1)
    db.run(
      `INSERT INTO "$response" (hash, at, used, bytes, status, duration_ms, body)
       VALUES (?, ?, ?, ?, ?, ?, ?)${more} ${ON_CONFLICT}`,
      ...params,
    )
  }
  // Replaced responses are counted twice until the limit seems to be exceeded: to look them up would cost every call.
  const row = db.get(
    'UPDATE "$sheet" SET response_bytes = response_bytes + ? RETURNING response_bytes',
    added,
  )
  if (Number(row?.['response_bytes']) > limit) removeUnused(db, excessOf(countBytes(db), limit))
}

/** Removes kept responses; see {@link ResponseStore.trim}. */
export function trimResponses({ db }: ChangeSet, { before, maxBytes }: ResponseTrim): TrimResult {
  runSync(trimLines(db, { before, maxBytes }))
  let removed = 0
  let bytes = 0
  if (before !== null) {
    const gone = db.all('DELETE FROM "$response" WHERE at < ? RETURNING bytes', Date.parse(before))
    removed += gone.length
    bytes += gone.reduce((sum, row) => sum + Number(row['bytes']), 0)
  }
  const left = countBytes(db)
  const unused = maxBytes === null ? NOTHING_REMOVED : removeUnused(db, left - maxBytes)
  return { removed: removed + unused.removed, bytes: bytes + unused.bytes }
}

/** Sets the limit, and removes what exceeds it. */
export function limitResponses(change: ChangeSet, limit: number): TrimResult {
  change.db.run('UPDATE "$sheet" SET response_limit = ?', limit)
  return trimResponses(change, { before: null, maxBytes: limit })
}

/** Returns the most bytes of responses that are kept. */
export function readLimit(db: Connection): number {
  return limitOf(db.get('SELECT response_limit FROM "$sheet"')?.['response_limit'])
}

const NOTHING_REMOVED: TrimResult = { removed: 0, bytes: 0 }

/** Removes the least recently used responses until so many bytes are free. */
function removeUnused(db: Connection, excess: number): TrimResult {
  let removed = 0
  let bytes = 0
  while (bytes < excess) {
    const gone = db.all(
      `DELETE FROM "$response" WHERE rowid IN (
         SELECT row FROM (
           SELECT row, sum(bytes) OVER (ORDER BY used, bytes, row) - bytes AS older
           FROM (SELECT rowid AS row, bytes, used FROM "$response" ORDER BY used, bytes LIMIT ${OLDEST_AT_ONCE})
         ) WHERE older < ?
       ) RETURNING bytes`,
      excess - bytes,
    )
    if (gone.length === 0) break
    removed += gone.length
    bytes += gone.reduce((sum, row) => sum + Number(row['bytes']), 0)
  }
  countBytes(db)
  return { removed, bytes }
}

/** Counts the bytes of all kept responses, stores the sum and returns it. */
function countBytes(db: Connection): number {
  const bytes = Number(db.get('SELECT total(bytes) AS bytes FROM "$response"')?.['bytes'] ?? 0)
  db.run('UPDATE "$sheet" SET response_bytes = ?', bytes)
  return bytes
}
