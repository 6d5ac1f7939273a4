import { createHash, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { RecordsError } from '../../../errors/service-error.ts'
import { hasRows } from '../../../provenance/imported-records.ts'
import { formatLine, isImportLine } from '../../../provenance/log-line.ts'
import { NetChanges, type NetRecord } from '../../../provenance/merge/net-changes.ts'
import {
  checkChangeCount,
  hashFile,
  memberOf,
  readLogLine,
  readRecordLine,
  recordFieldError,
  textLines,
} from '../../sheet-files/import-lines.ts'
import { CHECKPOINT_FILE, ImportedCheckpoints } from '../../sheet-files/checkpoint-file.ts'
import { insertCheckpoint } from '../../rows/log-tree.ts'
import { changeText, importedChange } from '../../fields/stored-changes.ts'
import type { TargetDefinition } from '../../sheet-store.ts'
import { entryTimeNow } from '../database/last-entry.ts'
import { Connection, sqliteCode } from '../database/connection.ts'
import { NotTakenOver, takeOver } from '../../rules/log/take-over.ts'
import { runSync } from '../../rules/steps.ts'
import { numberFields } from '../../rules/written/number-fields.ts'
import { CellStates } from '../changes/cell-states.ts'
import { ChangeSet } from '../changes/change-set.ts'
import { applyTargets, loadTargets } from './apply-contract.ts'
import { knowRecordsFile, recordLines } from './records-file.ts'
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
 * Creates the store of a sheet from `records.jsonl` and an existing `provenance.jsonl` (D2): one that continues the log where the log
 * leaves these records, and otherwise one that begins with an import of them. It is built under another name
 * and renamed when it is complete, so that an import that fails leaves nothing behind. Call it under the run lock. Throws
 * RecordsError naming file, line and field of an invalid line.
 */
export function createStore(paths: StorePaths, store: NewStore): void {
  const building = `${paths.database}-new`
  const continued = continuedLog(paths)
  try {
    build(building, { paths, store, continued })
  } catch (error) {
    if (!(error instanceof NotTakenOver)) throw error
    build(building, { paths, store, continued: null })
  }
  syncFile(building)
  // A store that was deleted after a crash may have left these; SQLite would play them back into the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(`${paths.database}${suffix}`, { force: true })
  renameSync(building, paths.database)
  syncFile(dirname(paths.database))
}

function build(
  building: string,
  {
    paths,
    store,
    continued,
  }: { readonly paths: StorePaths; readonly store: NewStore; readonly continued: ContinuedLog | null },
): void {
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
    const lastSeq = importLog(db, paths, continued?.seq ?? Infinity)
    if (continued !== null) importEarlier(db, paths.source, { ...store, continued })
    else if (existsSync(paths.source)) importRecords(db, paths.source, { ...store, seq: lastSeq + 1 })
    // Created after the records, an index takes a third of the time.
    for (const { sql } of fieldIndexes(store.contract)) db.exec(sql)
    if (continued === null) checkUnique(db, paths.source, store.contract)
    applyTargets(db, store.targets)
    if (continued !== null) continueLog(db, paths, { contract: store.contract, continued })
    db.exec('COMMIT')
    // A store that is in this mode when it is first opened needs no journal, so that none is ever ours.
    db.exec('PRAGMA journal_mode=WAL')
  } catch (error) {
    db.close()
    rmSync(building, { force: true })
    throw error
  }
  db.close()
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

/**
 * Imports the log if there is one, and continues from its last run and proposal; returns its last seq, 0 for none. Lines from a seq
 * on are not those of an earlier store, and are not inserted.
 */
function importLog(db: Connection, { log, checkpoints: noted }: StorePaths, from: number): number {
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
    if (last < from)
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
    Math.min(last, from - 1),
    lastRun,
    lastProposal,
  )
  return last
}

/** A log that explains the records beside it, from an import of them or from an empty sheet on. */
interface ContinuedLog {
  /** The seq from which on lines are those of the store. */
  readonly seq: number
  /** The text of the import, the first of these lines; null for a sheet that began empty. */
  readonly line: string | null
  /** The number of records that were imported. */
  readonly records: number
  /** The changes of the lines after it. */
  readonly changes: NetChanges
  /** Whether `records.jsonl` is the file that was imported, and no line follows. */
  readonly isImported: boolean
}

/** Reads the log of a sheet whose records it may explain; null where it cannot. */
function continuedLog({ log, source }: StorePaths): ContinuedLog | null {
  if (!existsSync(log) || !existsSync(source)) return null
  let found: Omit<ContinuedLog, 'changes' | 'isImported'> | null = { seq: 1, line: null, records: 0 }
  let changes = new NetChanges()
  let last = 0
  /** The hash of the imported file, where nothing follows the import. */
  let imported: JsonValue = null
  for (const line of textLines(log)) {
    const parsed = readLogLine(line, last)
    if (parsed === null) return null
    const seq = Number(parsed['seq'])
    const isImport = isImportLine(parsed)
    imported = isImport ? (parsed['sha256'] ?? null) : null
    if (isImport) {
      found = { seq, line: line.text, records: Number(parsed['records']) }
      changes = new NetChanges()
    } else if (seq !== last + 1 || (typeof parsed['record_id'] !== 'string' && !hasRows(parsed))) found = null
    changes.add(parsed, NO_LINE)
    last = seq
  }
  if (found === null || last === 0) return null
  return { ...found, changes, isImported: imported !== null && imported === hashFile(source) }
}

const NO_LINE: JsonObject = {}

/** Imports the records as they were when the store began that a log continues. Throws {@link NotTakenOver} where there are others. */
function importEarlier(
  db: Connection,
  path: string,
  { contract, targets, continued }: NewStore & { readonly continued: ContinuedLog },
): void {
  const { seq, line, records, changes, isImported } = continued
  const derived = new Set(targets.map(({ field }) => field))
  const columns = contract.fields.map(({ name }) => quoted(name))
  const insert = `INSERT INTO "$data" ("$version", ${columns.join(', ')}) VALUES (?${', ?'.repeat(columns.length)})`
  let count = 0
  const add = (record: JsonObject): void => {
    count += 1
    if (count > records)
      throw new NotTakenOver('records.jsonl has records that no line of the log has created')
    db.run(insert, seq, ...contract.fields.map(({ name }) => toColumn(memberOf(record, name))))
  }
  const present = new Set<string>()
  for (const text of recordLines(path)) {
    const record = readRecordLine(text, contract, derived)
    if (!isImported && !isExported(record, contract))
      throw new NotTakenOver(`line ${text.number} of records.jsonl is not as an export writes it`)
    const id = record['id'] as string
    if (present.has(id)) throw notUnique(text.number, 'id', id)
    present.add(id)
    const changed = changes.records.get(id)
    if (changed === undefined) add(record)
    else if (changed.existed) add({ ...(changed.isReborn ? {} : record), id, ...valuesOf(changed) })
  }
  for (const [id, changed] of changes.records)
    if (changed.existed && !present.has(id)) add({ id, ...valuesOf(changed) })
  if (count !== records) throw new NotTakenOver(`${records} records were imported, and there are ${count}`)
  db.run('UPDATE "$sheet" SET records = ?, last_record = ?', count, count)
  if (line === null) return
  db.run('INSERT INTO "$provenance" (seq, line) VALUES (?, ?)', seq, line)
  if (count > 0) db.run('INSERT INTO "$import" (seq, first, last) VALUES (?, 1, ?)', seq, count)
}

/** Whether a record has the fields of the contract in its order: a file that somebody has made anew mostly has not. */
function isExported(record: JsonObject, { fields }: Contract): boolean {
  const names = Object.keys(record)
  return names.length === fields.length && fields.every(({ name }, index) => names[index] === name)
}

/** Returns the values that changed cells of a record had before. */
function valuesOf({ cells }: NetRecord): JsonObject {
  return Object.fromEntries([...cells].map(([field, { before }]) => [field, before]))
}

/** Takes the lines of a log over, which must leave the records of the file. Throws {@link NotTakenOver} where they do not. */
function continueLog(
  db: Connection,
  { log, source }: StorePaths,
  { contract, continued }: { readonly contract: Contract; readonly continued: ContinuedLog },
): void {
  const states = new CellStates(db, loadTargets(db))
  const { numbers } = runSync(numberFields(db, contract.fields))
  const change = new ChangeSet({ db, contract, states, numbers })
  const after = continued.line === null ? 0 : continued.seq
  runSync(takeOver(change, linesAfter(log, after)))
  change.finish()
  const difference = knowRecordsFile(db, source, contract)
  if (difference !== null) throw new NotTakenOver(difference)
}

/** Yields the texts of the whole lines of a log after a seq. */
function* linesAfter(log: string, seq: number): Generator<string, void> {
  let last = 0
  for (const line of textLines(log)) {
    last = Number(readLogLine(line, last)?.['seq'] ?? last)
    if (last > seq) yield line.text
  }
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
