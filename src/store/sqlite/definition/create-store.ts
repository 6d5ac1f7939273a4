import { createHash, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { RecordsError } from '../../../errors/service-error.ts'
import { formatLine } from '../../../provenance/log-line.ts'
import {
  checkChangeCount,
  memberOf,
  readLogLine,
  readRecordLine,
  recordFieldError,
  textLines,
  type TextLine,
} from '../../sheet-files/import-lines.ts'
import { CHECKPOINT_FILE, ImportedCheckpoints } from '../../sheet-files/checkpoint-file.ts'
import { insertCheckpoint } from '../../rows/log-tree.ts'
import { changeText, importedChange } from '../../fields/stored-changes.ts'
import type { TargetDefinition } from '../../sheet-store.ts'
import { entryTimeNow } from '../database/last-entry.ts'
import { Connection, sqliteCode } from '../database/connection.ts'
import { applyTargets } from './apply-contract.ts'
import {
  dataTable,
  fieldIndexes,
  INTERNAL_TABLES,
  quoted,
  recordsView,
  SCHEMA_VERSION,
} from '../database/schema.ts'
import { fromColumn, toColumn } from '../database/values.ts'
import { runNumber, textOrNull } from '../../rows/stored-rows.ts'

const SQLITE_CONSTRAINT_UNIQUE = 2067

/** The files of a sheet that its store uses (D1). */
export interface StorePaths {
  readonly database: string
  readonly lock: string
  readonly log: string
  readonly checkpoints: string
  readonly source: string
}

/** Returns the paths of the store's files in a sheet's directory. */
export function storePaths(directory: string): StorePaths {
  return {
    database: join(directory, 'sheet.db'),
    lock: join(directory, 'sheet.db-lock'),
    log: join(directory, 'provenance.jsonl'),
    checkpoints: join(directory, CHECKPOINT_FILE),
    source: join(directory, 'records.jsonl'),
  }
}

export interface NewStore {
  readonly contract: Contract
  readonly targets: readonly TargetDefinition[]
  /** The actor of the import, for provenance. */
  readonly actor: string
}

/**
 * Creates the store of a sheet from `records.jsonl` and an existing `provenance.jsonl` (D2). It is built under another name
 * and renamed when it is complete, so that an import that fails leaves nothing behind. Call it under the run lock. Throws
 * RecordsError naming file, line and field of an invalid line.
 */
export function createStore(paths: StorePaths, store: NewStore): void {
  const building = `${paths.database}-new`
  rmSync(building, { force: true })
  const db = Connection.forBuilding(building)
  try {
    db.exec('BEGIN')
    db.exec(`${INTERNAL_TABLES};${dataTable(store.contract)};${recordsView(store.contract)}`)
    db.run(
      'INSERT INTO "$sheet" (one, schema_version, contract, cursor_key) VALUES (1, ?, ?, ?)',
      SCHEMA_VERSION,
      store.contract.text,
      randomBytes(32),
    )
    const lastSeq = importLog(db, paths)
    if (existsSync(paths.source)) importRecords(db, paths.source, { ...store, seq: lastSeq + 1 })
    // Created after the records, an index takes a third of the time.
    for (const { sql } of fieldIndexes(store.contract)) db.exec(sql)
    checkUnique(db, paths.source, store.contract)
    applyTargets(db, store.targets)
    db.exec('COMMIT')
    // A store that is in this mode when it is first opened needs no journal, so that none is ever ours.
    db.exec('PRAGMA journal_mode=WAL')
  } catch (error) {
    db.close()
    rmSync(building, { force: true })
    throw error
  }
  db.close()
  syncFile(building)
  // A store that was deleted after a crash may have left these; SQLite would play them back into the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(`${paths.database}${suffix}`, { force: true })
  renameSync(building, paths.database)
  syncFile(dirname(paths.database))
}

/** Syncs a file, or the names in a directory, to the disk. */
export function syncFile(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Imports the log if there is one, and continues from its last run and proposal; returns its last seq, 0 for none. */
function importLog(db: Connection, { log, checkpoints: noted }: StorePaths): number {
  const checkpoints = new ImportedCheckpoints(noted)
  let last = 0
  let lastRun = 0
  let lastProposal = 0
  let changes = 0
  for (const line of existsSync(log) ? textLines(log) : []) {
    const parsed = readLogLine(line, last)
    if (parsed === null) continue
    last = Number(parsed['seq'])
    const earlierId = typeof parsed['record_id'] === 'string' ? parsed['record_id'] : null
    db.run('INSERT INTO "$provenance" (seq, earlier_id, line) VALUES (?, ?, ?)', last, earlierId, line.text)
    const change = importedChange(parsed)
    if (change !== null) checkChangeCount((changes += 1), line.number)
    if (change !== null)
      db.run('INSERT INTO "$field_change" (seq, "change") VALUES (?, ?)', last, changeText(change))
    lastRun = Math.max(lastRun, runNumber(parsed['run_id']) ?? 0)
    lastProposal = Math.max(lastProposal, runNumber(parsed['proposal']) ?? 0)
    for (const checkpoint of checkpoints.afterLine(line.text, {
      seq: last,
      at: textOrNull(parsed['at']) ?? '',
    }))
      db.change(insertCheckpoint(checkpoint))
  }
  checkpoints.end()
  db.run(
    'UPDATE "$sheet" SET history_after = ?, last_run = ?, last_proposal = ?',
    last,
    lastRun,
    lastProposal,
  )
  return last
}

interface RecordImport extends NewStore {
  readonly seq: number
}

/** Imports the records of a file; {@link checkUnique} checks `unique`, except that of `id`. */
function importRecords(db: Connection, path: string, { contract, targets, actor, seq }: RecordImport): void {
  const { size, mtimeMs } = statSync(path)
  const derived = new Set(targets.map(({ field }) => field))
  const columns = contract.fields.map(({ name }) => quoted(name))
  const insert = `INSERT INTO "$data" ("$version", ${columns.join(', ')}) VALUES (?${', ?'.repeat(columns.length)})`
  const digest = createHash('sha256')
  let count = 0
  for (const line of recordLines(path, (bytes) => digest.update(bytes))) {
    const record = readRecordLine(line, contract, derived)
    try {
      db.run(insert, seq, ...contract.fields.map(({ name }) => toColumn(memberOf(record, name))))
    } catch (error) {
      throw sqliteCode(error) === SQLITE_CONSTRAINT_UNIQUE
        ? notUnique(line.number, 'id', record['id'])
        : error
    }
    count += 1
  }
  const sha256 = digest.digest('hex')
  db.run(
    'UPDATE "$sheet" SET records = ?, last_record = ?, source_size = ?, source_mtime = ?, source_sha256 = ?',
    count,
    count,
    size,
    Math.trunc(mtimeMs),
    sha256,
  )
  if (count === 0) return
  const at = entryTimeNow(db)
  const line = formatLine({ seq, at, actor, source: 'import', file: basename(path), sha256, records: count })
  db.run('INSERT INTO "$provenance" (seq, line) VALUES (?, ?)', seq, line)
  db.run('INSERT INTO "$import" (seq, first, last) VALUES (?, 1, ?)', seq, count)
}

/** Yields the lines of a file that contain records. */
function* recordLines(path: string, onBytes?: (bytes: Uint8Array) => void): Generator<TextLine, void> {
  for (const line of textLines(path, onBytes)) if (line.text.trim() !== '') yield line
}

/**
 * Throws RecordsError for the first line with a value of a unique field that an earlier one has. Scans the fields' indexes.
 */
function checkUnique(db: Connection, path: string, { fields }: Contract): void {
  const repeats = fields
    .filter(({ unique, primaryKey }) => unique && !primaryKey)
    .flatMap((field) => firstRepeat(db, field))
  const [first] = repeats.toSorted((a, b) => a.record - b.record)
  if (first === undefined) return
  const line = recordLines(path)
    .drop(first.record - 1)
    .next().value
  throw notUnique(line?.number ?? first.record, first.field.name, first.value)
}

/** Returns the first record with a value that an earlier one has, counted from 1; nothing when there is none. */
function firstRepeat(db: Connection, field: Field): { field: Field; record: number; value: JsonValue }[] {
  const column = quoted(field.name)
  const repeated = `SELECT 1 FROM "$data" WHERE ${column} IS NOT NULL GROUP BY ${column} HAVING count(*) > 1 LIMIT 1`
  if (db.get(repeated) === undefined) return []
  const row = db.get(
    `SELECT min("$seq") AS "$record", ${column} AS "$value" FROM (
       SELECT "$seq", ${column}, row_number() OVER (PARTITION BY ${column} ORDER BY "$seq") AS "$nth" FROM "$data"
       WHERE ${column} IS NOT NULL) WHERE "$nth" = 2`,
  )
  return [{ field, record: Number(row?.['$record']), value: fromColumn(field, row?.['$value']) }]
}

function notUnique(line: number, field: string, value: JsonValue | undefined): RecordsError {
  return recordFieldError(
    line,
    field,
    `must be unique, but an earlier line has ${JSON.stringify(value)} already`,
  )
}
