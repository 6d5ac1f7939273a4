import type {
  CellCounts,
  ChangedFile,
  ChangeTexts,
  DefinitionEffect,
  StoredChange,
  StoredFileChange,
} from '../definition-change.ts'
import type { Query, QueryRow, Statement } from './query.ts'
import { runNumber, textOrNull } from './stored-rows.ts'

/** The most bytes of texts that the history keeps; the oldest are removed first, never those of the latest change. */
const KEPT_BYTES = 32 << 20

/** A change to be stored. */
export interface NewChange extends Omit<StoredChange, 'id' | 'files'> {
  readonly number: number
  /** Whether the files of a directory are still to be written. */
  readonly pending: boolean
}

/** Reads the number that the next change gets. */
export const NEXT_CHANGE: Query<number> = {
  sql: 'SELECT coalesce(max(id), 0) + 1 AS next FROM "$definition_change"',
  params: [],
  result: ([row]) => Number(row?.['next']),
}

/** Stores a change without its files. */
export function insertChange(change: NewChange): Statement {
  const { number, at, actor, note, reverts, proposal, effect, pending } = change
  return {
    sql: `INSERT INTO "$definition_change" (id, at, actor, note, reverts, effect, pending, proposal)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    params: [
      number,
      at,
      actor,
      note,
      reverts === null ? null : Number(reverts),
      effect === null ? null : JSON.stringify(effect),
      Number(pending),
      proposal === null ? null : Number(proposal.id),
    ],
  }
}

/** Stores a file of a change. */
export function insertFile(change: number, file: StoredFileChange): Statement {
  return {
    sql: `INSERT INTO "$definition_file" ("change", path, "before", "after") VALUES (?1, ?2, ?3, ?4)`,
    params: [change, file.path, bytesOf(file.before), bytesOf(file.after)],
  }
}

/** Stores a text, once for all changes that have it. */
export function keepText(change: number, sha256: string, bytes: Uint8Array): Statement {
  return {
    sql: `INSERT INTO "$definition_text" (hash, bytes, size, used) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (hash) DO UPDATE SET used = excluded.used`,
    params: [Buffer.from(sha256, 'hex'), bytes, bytes.length, change],
  }
}

/** Removes the oldest texts beyond the limit, but none of this change. */
export function removeOldTexts(change: number, keptBytes = KEPT_BYTES): Statement {
  return {
    sql: `DELETE FROM "$definition_text" WHERE hash IN (
      SELECT hash FROM (
        SELECT hash, used, sum(size) OVER (ORDER BY used DESC, hash) AS total FROM "$definition_text"
      ) AS kept WHERE total > ?1 AND used < ?2)`,
    params: [keptBytes, change],
  }
}

/** Marks the changes whose files are written. */
export const SETTLE_CHANGES: Statement = {
  sql: 'UPDATE "$definition_change" SET pending = 0 WHERE pending = 1',
  params: [],
}

/** Reads the files of changes that are not written yet, in the order of the changes. */
export const PENDING_FILES: Query<readonly ChangedFile[]> = {
  sql: `SELECT file.path, file."before", file."after", old.bytes AS bytes_before, new.bytes AS bytes_after
    FROM "$definition_change" AS change
    JOIN "$definition_file" AS file ON file."change" = change.id
    LEFT JOIN "$definition_text" AS old ON old.hash = file."before"
    LEFT JOIN "$definition_text" AS new ON new.hash = file."after"
    WHERE change.pending = 1 ORDER BY change.id, file.path`,
  params: [],
  result: (rows) =>
    rows.map((row) => ({
      path: String(row['path']),
      before: blobOrNull(row['bytes_before']),
      after: blobOrNull(row['bytes_after']),
    })),
}

/** Whether a change has files that are not written yet. */
export const HAS_PENDING: Query<boolean> = {
  sql: 'SELECT 1 AS found FROM "$definition_change" WHERE pending = 1 LIMIT 1',
  params: [],
  result: (rows) => rows.length > 0,
}

/** Reads changes before a change, newest first; `before` null starts at the newest. */
export function changesBefore({
  before,
  limit,
}: {
  readonly before: string | null
  readonly limit: number
}): Query<readonly StoredChange[]> {
  const end = before === null ? Number.MAX_SAFE_INTEGER : runNumber(before)
  return {
    sql: `SELECT change.*, proposed.actor AS proposed_by, file.path, file."before", file."after" FROM (
        SELECT * FROM "$definition_change" WHERE id < ?1 ORDER BY id DESC LIMIT ?2
      ) AS change LEFT JOIN "$proposal" AS proposed ON proposed.id = change.proposal
      LEFT JOIN "$definition_file" AS file ON file."change" = change.id
      ORDER BY change.id DESC, file.path`,
    params: [end, limit],
    result: changesOf,
  }
}

/** Reads a change with the texts that are kept; null for an unknown id, whatever text it is. */
export function changeById(id: string): Query<ChangeTexts | null> {
  return {
    sql: `SELECT change.*, proposed.actor AS proposed_by, file.path, file."before", file."after", old.bytes AS bytes_before, new.bytes AS bytes_after
      FROM "$definition_change" AS change
      LEFT JOIN "$proposal" AS proposed ON proposed.id = change.proposal
      LEFT JOIN "$definition_file" AS file ON file."change" = change.id
      LEFT JOIN "$definition_text" AS old ON old.hash = file."before"
      LEFT JOIN "$definition_text" AS new ON new.hash = file."after"
      WHERE change.id = ?1 ORDER BY file.path`,
    params: [runNumber(id)],
    result: (rows) => {
      const [change] = changesOf(rows)
      if (change === undefined) return null
      const files = rows.flatMap((row, index) => {
        const file = change.files[index]
        if (file === undefined) return []
        return [
          {
            ...file,
            bytesBefore: blobOrNull(row['bytes_before']),
            bytesAfter: blobOrNull(row['bytes_after']),
          },
        ]
      })
      return { change, files }
    },
  }
}

function changesOf(rows: readonly QueryRow[]): StoredChange[] {
  const byId = Map.groupBy(rows, (row) => Number(row['id']))
  return [...byId.values()].map((ofChange) => {
    const [row] = ofChange as [QueryRow]
    const effect = textOrNull(row['effect'])
    return {
      id: String(Number(row['id'])),
      at: String(row['at']),
      actor: textOrNull(row['actor']),
      note: textOrNull(row['note']),
      reverts: row['reverts'] === null ? null : String(Number(row['reverts'])),
      proposal:
        row['proposal'] === null
          ? null
          : { id: String(Number(row['proposal'])), by: String(row['proposed_by']) },
      effect: effect === null ? null : (JSON.parse(effect) as DefinitionEffect),
      files: ofChange.flatMap((file) =>
        file['path'] === null
          ? []
          : [{ path: String(file['path']), before: hexOf(file['before']), after: hexOf(file['after']) }],
      ),
    }
  })
}

/** A derived field as a change finds it. */
export interface CountedTarget {
  readonly id: number
  readonly field: string
  readonly derivation: string
  readonly sha256: string
  readonly active: boolean
  readonly counts: CellCounts
}

/** Reads the derived fields with the states of their cells, and the number of records. */
export const COUNTED_TARGETS: Query<{
  readonly records: number
  readonly targets: readonly CountedTarget[]
}> = {
  sql: `SELECT sheet.records, target.id, target.field, target.derivation, target.sha256, target.active, target.missing, target.stale,
      target.failed, target.overridden, target.blocked
    FROM "$sheet" AS sheet LEFT JOIN "$target" AS target ON true ORDER BY target.id`,
  params: [],
  result: (rows) => {
    const records = Number(rows[0]?.['records'])
    return {
      records,
      targets: rows.flatMap((row) => {
        if (row['field'] === null) return []
        const [stale, missing, failed] = [Number(row['stale']), Number(row['missing']), Number(row['failed'])]
        const overridden = Number(row['overridden'])
        const fresh = records - stale - missing - failed - overridden
        return [
          {
            id: Number(row['id']),
            field: String(row['field']),
            derivation: String(row['derivation']),
            sha256: String(row['sha256']),
            active: row['active'] === true || row['active'] === 1,
            counts: { fresh, stale, missing, failed, overridden, blocked: Number(row['blocked']) },
          },
        ]
      }),
    }
  },
}

/** Reads the text of a version of a derivation file; null for none. */
export function versionText(file: string, sha256: string): Query<string | null> {
  return {
    sql: 'SELECT text FROM "$derivation" WHERE file = ?1 AND sha256 = ?2',
    params: [file, sha256],
    result: ([row]) => textOrNull(row?.['text']),
  }
}

function bytesOf(sha256: string | null): Uint8Array | null {
  return sha256 === null ? null : Buffer.from(sha256, 'hex')
}

function hexOf(stored: unknown): string | null {
  return stored instanceof Uint8Array ? Buffer.from(stored).toString('hex') : null
}

function blobOrNull(stored: unknown): Uint8Array | null {
  return stored instanceof Uint8Array ? stored : null
}

/** Reads the text of the contract that the store follows. */
export const STORED_CONTRACT: Query<string> = {
  sql: 'SELECT contract FROM "$sheet"',
  params: [],
  result: ([row]) => String(row?.['contract']),
}
