import { existsSync, statSync } from 'node:fs'
import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { formatLine } from '../../../provenance/log-line.ts'
import {
  checkChangeCount,
  hashFile,
  memberOf,
  readLogLine,
  readRecordLine,
  recordFieldError,
  textLines,
  type SourcePaths,
  type TextLine,
} from '../../sheet-files/import-lines.ts'
import { ImportedCheckpoints } from '../../sheet-files/checkpoint-file.ts'
import type { StoredCheckpoint } from '../../log-tree-store.ts'
import { insertCheckpoint } from '../../rows/log-tree.ts'
import { changeText, importedChange, type StoredFieldChange } from '../../fields/stored-changes.ts'
import type { TargetDefinition } from '../../sheet-store.ts'
import type { ClientConnection } from '../database/connection.ts'
import { TableCopy } from '../database/copy-into.ts'
import { readEntryTime } from '../database/database-clock.ts'
import { exactly, quoted } from '../database/schema.ts'
import { columnsOf } from '../database/columns.ts'
import { toColumnTexts } from '../database/values.ts'
import { runNumber, textOrNull } from '../../rows/stored-rows.ts'

/** Imports the log if there is one, and continues from its last run and proposal; returns its last seq, 0 for none. */
export async function importLog(
  db: ClientConnection,
  { log, checkpoints: noted }: SourcePaths,
): Promise<number> {
  const checkpoints = new ImportedCheckpoints(noted)
  const found: StoredCheckpoint[] = []
  let [last, lastRun, lastProposal] = [0, 0, 0]
  const changes: StoredFieldChange[] = []
  const copy = new TableCopy(db, '"$provenance"', ['seq', 'earlier_id', 'line'])
  try {
    for (const line of existsSync(log) ? textLines(log) : []) {
      const parsed = readLogLine(line, last)
      if (parsed === null) continue
      last = Number(parsed['seq'])
      const id = parsed['record_id']
      // PostgreSQL cannot store U+0000, and no id of ours contains it.
      const earlierId = typeof id === 'string' && !id.includes('\0') ? id : null
      await copy.add([String(last), earlierId, line.text])
      const change = importedChange(parsed)
      if (change !== null) checkChangeCount(changes.push(change), line.number)
      lastRun = Math.max(lastRun, runNumber(parsed['run_id']) ?? 0)
      lastProposal = Math.max(lastProposal, runNumber(parsed['proposal']) ?? 0)
      found.push(...checkpoints.afterLine(line.text, { seq: last, at: textOrNull(parsed['at']) ?? '' }))
    }
    checkpoints.end()
  } finally {
    await copy.end()
  }
  await db.run(
    'INSERT INTO "$field_change" (seq, "change") SELECT * FROM unnest($1::bigint[], $2::text[])',
    changes.map(({ seq }) => seq),
    changes.map(changeText),
  )
  for (const checkpoint of found) await db.change(insertCheckpoint(checkpoint))
  await db.run(
    'UPDATE "$sheet" SET history_after = $1, last_seq = $1, last_run = $2, last_proposal = $3',
    last,
    lastRun,
    lastProposal,
  )
  return last
}

/** Parameters of an import of records. */
export interface RecordImport {
  readonly contract: Contract
  readonly targets: readonly TargetDefinition[]
  /** The actor of the import, for provenance. */
  readonly actor: string
  readonly path: string
  /** The seq of the import's provenance line. */
  readonly seq: number
}

/**
 * Imports `records.jsonl` into tables without records (D2). Throws RecordsError naming file, line and field of an invalid
 * line.
 */
export async function importRecords(db: ClientConnection, store: RecordImport): Promise<void> {
  const { path, seq } = store
  const { size, mtimeMs } = statSync(path)
  const count = await copyRecords(db, store)
  const sha256 = hashFile(path)
  await db.run(
    'UPDATE "$sheet" SET records = $1, last_record = $1, source_size = $2, source_mtime = $3, source_sha256 = $4',
    count,
    size,
    Math.trunc(mtimeMs),
    sha256,
  )
  if (count === 0) return
  const at = await readEntryTime(db)
  const line = {
    seq,
    at,
    actor: store.actor,
    source: 'import',
    file: 'records.jsonl',
    sha256,
    records: count,
  } as const
  await db.run('INSERT INTO "$provenance" (seq, line) VALUES ($1, $2)', seq, formatLine(line))
  await db.run('INSERT INTO "$import" (seq, first, last) VALUES ($1, 1, $2)', seq, count)
  await db.run('UPDATE "$sheet" SET last_seq = $1', seq)
}

/** Copies the records into their table; returns their number. */
async function copyRecords(db: ClientConnection, store: RecordImport): Promise<number> {
  const { contract, path, seq } = store
  const derived = new Set(store.targets.map(({ field }) => field))
  const columns = ['$seq', '$version', ...columnsOf(contract.fields)].map(quoted)
  const copy = new TableCopy(db, '"$data"', columns)
  let count = 0
  let fault: unknown = null
  try {
    for (const line of recordLines(path)) {
      const record = readRecordLine(line, contract, derived)
      count += 1
      const values = contract.fields.flatMap((field) => toColumnTexts(field, memberOf(record, field.name)))
      await copy.add([String(count), String(seq), ...values])
    }
  } catch (error) {
    fault = error
  }
  await copy.end()
  // A duplicate is reported before an error in a later line.
  await checkUnique(db, store)
  if (fault !== null) throw fault
  return count
}

/** Yields the lines that contain records. */
function recordLines(path: string): IteratorObject<TextLine> {
  return textLines(path).filter(({ text }) => text.trim() !== '')
}

/** Throws RecordsError for the first line with a value of a unique field that an earlier line has. */
async function checkUnique(db: ClientConnection, { contract, path }: RecordImport): Promise<void> {
  let first: { field: Field; key: number } | null = null
  for (const field of contract.fields.filter(({ unique, primaryKey }) => unique || primaryKey)) {
    const column = quoted(field.name)
    const row = await db.get(
      `SELECT min("$seq") AS key FROM (
         SELECT "$seq", row_number() OVER (PARTITION BY ${exactly(field)} ORDER BY "$seq") AS place
         FROM "$data" WHERE ${column} IS NOT NULL) AS placed WHERE place > 1`,
    )
    const key = row?.['key'] ?? null
    if (key !== null && (first === null || Number(key) < first.key)) first = { field, key: Number(key) }
  }
  if (first === null) return
  const line = recordLines(path)
    .drop(first.key - 1)
    .next().value as TextLine
  const { name } = first.field
  const value = JSON.stringify(memberOf(JSON.parse(line.text) as JsonObject, name))
  throw recordFieldError(line.number, name, `must be unique, but an earlier line has ${value} already`)
}
