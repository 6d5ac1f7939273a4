import { createHash, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Contract, Field } from '../../contract/contract.ts'
import { JSON_DEPTH_LIMIT, nestsTooDeep } from '../../contract/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import { faultOf } from '../../contract/validate-value.ts'
import { RecordsError } from '../../errors/service-error.ts'
import { formatLine, parseLine } from '../../provenance/log-line.ts'
import { MAX_LINE_BYTES, readLines, type FileLine } from '../../provenance/read-lines.ts'
import type { TargetDefinition } from '../sheet-store.ts'
import { Connection } from './connection.ts'
import { applyTargets } from './define.ts'
import { dataTable, fieldIndexes, INTERNAL_TABLES, quoted, recordsView, SCHEMA_VERSION } from './schema.ts'
import { runNumber, toColumn } from './values.ts'

/** A log that was there before leaves the store as many numbers again. */
const MAX_SEQ = 2 ** 52 - 1

/** The files of a sheet that the store has to do with (D1). */
export interface StorePaths {
  readonly database: string
  readonly lock: string
  readonly log: string
  readonly source: string
}

/** Where the store's files are in a sheet's directory. */
export function storePaths(directory: string): StorePaths {
  return {
    database: join(directory, 'sheet.db'),
    lock: join(directory, 'sheet.db-lock'),
    log: join(directory, 'provenance.jsonl'),
    source: join(directory, 'records.jsonl'),
  }
}

export interface NewStore {
  readonly contract: Contract
  readonly targets: readonly TargetDefinition[]
  /** Who imports, for the provenance. */
  readonly actor: string
}

/**
 * Makes the store of a sheet from `records.jsonl` and what there is of `provenance.jsonl` (D2). It is built under
 * another name and renamed when it is whole, so that an import that stops leaves nothing behind. To be called under
 * the run lock. Throws RecordsError naming file, line and field of a bad line.
 */
export function createStore(paths: StorePaths, store: NewStore): void {
  const building = `${paths.database}-new`
  rmSync(building, { force: true })
  const db = Connection.forBuilding(building)
  try {
    db.exec('BEGIN')
    db.exec(`${INTERNAL_TABLES};${dataTable(store.contract)};${recordsView(store.contract)}`)
    for (const { sql } of fieldIndexes(store.contract)) db.exec(sql)
    db.run(
      'INSERT INTO "$sheet" (one, schema_version, contract, cursor_key) VALUES (1, ?, ?, ?)',
      SCHEMA_VERSION,
      store.contract.text,
      randomBytes(32),
    )
    const lastSeq = existsSync(paths.log) ? importLog(db, paths.log) : 0
    if (existsSync(paths.source)) importRecords(db, paths.source, { ...store, seq: lastSeq + 1 })
    applyTargets(db, store.targets)
    db.exec('COMMIT')
    // Opened for the first time, a store that is in this mode already needs no journal, so that none is ever ours.
    db.exec('PRAGMA journal_mode=WAL')
  } catch (error) {
    db.close()
    rmSync(building, { force: true })
    throw error
  }
  db.close()
  syncFile(building)
  // Of a store that was deleted after a crash these may be left; SQLite would play them back into the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(`${paths.database}${suffix}`, { force: true })
  renameSync(building, paths.database)
  syncFile(dirname(paths.database))
}

function syncFile(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Takes over a log that is there already, and goes on from its last run and proposal; answers with its last seq. */
function importLog(db: Connection, path: string): number {
  let last = 0
  let lastRun = 0
  let lastProposal = 0
  withFile(path, (line, text) => {
    const read = parseLine(text)
    const parsed = nestsTooDeep(read) ? null : read
    const seq = Number(parsed?.['seq'])
    // What a crash tore off the end of the file is no line; one that only lacks its line break is.
    if (parsed === null && !line.whole) return
    if (parsed === null || seq <= last || seq > MAX_SEQ) {
      throw new RecordsError(
        `provenance.jsonl:${line.number}: not a line of a provenance log with a "seq" above ${last} and below 2^52: ` +
          `${JSON.stringify(text.slice(0, 80))}; correct the line or move the file away`,
      )
    }
    const earlierId = typeof parsed['record_id'] === 'string' ? parsed['record_id'] : null
    db.run('INSERT INTO "$provenance" (seq, earlier_id, line) VALUES (?, ?, ?)', seq, earlierId, text)
    last = seq
    lastRun = Math.max(lastRun, runNumber(parsed['run_id']) ?? 0)
    lastProposal = Math.max(lastProposal, runNumber(parsed['proposal']) ?? 0)
  })
  db.run(
    'UPDATE "$sheet" SET history_after = ?, last_run = ?, last_proposal = ?',
    last,
    lastRun,
    lastProposal,
  )
  return last
}

/** Goes through the lines of a file of UTF-8 text. */
function withFile(path: string, onLine: (line: FileLine, text: string) => void): void {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const fd = openSync(path, 'r')
  try {
    for (const line of readLines(fd, 0)) {
      if (line.tooLong) {
        const limit = MAX_LINE_BYTES / 1024 / 1024
        throw new RecordsError(
          `${basename(path)}:${line.number}: the line is longer than ${limit} MiB; make it shorter, or split it`,
        )
      }
      let text: string
      try {
        text = decoder.decode(line.bytes)
      } catch {
        throw new RecordsError(`${basename(path)}:${line.number}: not valid UTF-8`)
      }
      onLine(line, text)
    }
  } finally {
    closeSync(fd)
  }
}

/** Hex SHA-256 of a file. */
export function hashFile(path: string): string {
  const digest = createHash('sha256')
  const chunk = Buffer.allocUnsafe(1 << 20)
  const fd = openSync(path, 'r')
  try {
    for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk))
      digest.update(chunk.subarray(0, size))
  } finally {
    closeSync(fd)
  }
  return digest.digest('hex')
}

interface RecordImport extends NewStore {
  readonly seq: number
}

function importRecords(db: Connection, path: string, store: RecordImport): void {
  const { size, mtimeMs } = statSync(path)
  const importer = new LineImporter(db, store)
  withFile(path, (line, text) => {
    if (text.trim() === '') return
    importer.add(text, line.number)
  })
  const sha256 = hashFile(path)
  db.run(
    'UPDATE "$sheet" SET records = ?, last_record = ?, source_size = ?, source_mtime = ?, source_sha256 = ?',
    importer.count,
    importer.count,
    size,
    Math.trunc(mtimeMs),
    sha256,
  )
  if (importer.count === 0) return
  const at = new Date().toISOString()
  const line = formatLine({
    seq: store.seq,
    at,
    actor: store.actor,
    source: 'import',
    file: 'records.jsonl',
    sha256,
    records: importer.count,
  })
  db.run('INSERT INTO "$provenance" (seq, line) VALUES (?, ?)', store.seq, line)
  db.run('INSERT INTO "$import" (seq, first, last) VALUES (?, 1, ?)', store.seq, importer.count)
}

class LineImporter {
  readonly #db: Connection
  readonly #store: RecordImport
  readonly #derived: ReadonlySet<string>
  readonly #insert: string
  readonly #unique: readonly Field[]
  count = 0

  constructor(db: Connection, store: RecordImport) {
    this.#db = db
    this.#store = store
    this.#derived = new Set(store.targets.map((target) => target.field))
    this.#unique = store.contract.fields.filter((field) => field.unique || field.primaryKey)
    const columns = store.contract.fields.map((field) => quoted(field.name))
    this.#insert = `INSERT INTO "$data" ("$version", ${columns.join(', ')}) VALUES (?${', ?'.repeat(columns.length)})`
  }

  add(text: string, lineNumber: number): void {
    const where = `records.jsonl:${lineNumber}`
    const record = parseRecord(text, where)
    this.#checkNames(record, where)
    const values = this.#store.contract.fields.map((field) => {
      const value = Object.hasOwn(record, field.name) ? (record[field.name] as JsonValue) : null
      const fault = value === null && this.#derived.has(field.name) ? null : faultOf(field, value)
      if (fault !== null) throw new RecordsError(`${where}, field "${field.name}": ${fault}`)
      return toColumn(value)
    })
    this.#checkUnique(record, where)
    this.#db.run(this.#insert, this.#store.seq, ...values)
    this.count += 1
  }

  #checkNames(record: JsonObject, where: string): void {
    const names = this.#store.contract.fieldByName
    const unknown = Object.keys(record).find((name) => !names.has(name))
    if (unknown !== undefined) {
      throw new RecordsError(`${where}, field ${JSON.stringify(unknown)}: the contract has no such field`)
    }
  }

  #checkUnique(record: JsonObject, where: string): void {
    for (const { name } of this.#unique) {
      if (!this.#isTaken(name, record)) continue
      const value = JSON.stringify(record[name])
      throw new RecordsError(
        `${where}, field "${name}": must be unique, but an earlier line has ${value} already`,
      )
    }
  }

  #isTaken(name: string, record: JsonObject): boolean {
    if (!Object.hasOwn(record, name)) return false
    const value = toColumn(record[name] as JsonValue)
    return this.#db.get(`SELECT 1 FROM "$data" WHERE ${quoted(name)} = ?`, value) !== undefined
  }
}

function parseRecord(text: string, where: string): JsonObject {
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch (error) {
    // Without the parser's own count of lines, which is that of the text it was given.
    const fault = (error instanceof Error ? error.message : '').replace(/ \(line \d+ column \d+\)$/, '')
    throw new RecordsError(`${where}: not JSON: ${fault}`)
  }
  if (!isJsonObject(record)) throw new RecordsError(`${where}: a line must be a JSON object`)
  if (nestsTooDeep(record)) {
    throw new RecordsError(`${where}: nested more than ${JSON_DEPTH_LIMIT} levels deep; no field takes that`)
  }
  return record
}
