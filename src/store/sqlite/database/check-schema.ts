import type { Contract } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { ContractError, fileError, RecordsError } from '../../../errors/service-error.ts'
import { Connection, SQLITE_ERROR, sqliteCode, type StoredRow } from './connection.ts'
import { isKeptColumn } from '../../fields/kept-columns.ts'
import { areStoredChanges, FIELD_CHANGES, keptColumns, type KeptColumn } from '../../fields/stored-changes.ts'
import {
  COLUMN_TYPES,
  dataTable,
  fieldIndexes,
  FIRST_TABLES,
  MIGRATIONS,
  recordsView,
  SCHEMA_VERSION,
} from './schema.ts'

const NO_STORE =
  'keep the file: when you move it away, it is created again from records.jsonl, without later writes, which are in provenance.jsonl'

/**
 * Compares the schema of `sheet.db` with the one that this program creates, since a sheet may be from an untrusted source:
 * the store's own statements would run a trigger, a view in place of a table, a computed column or a check. Runs nothing of
 * it and writes nothing. Throws RecordsError for anything but a store, and for a store of a later version.
 */
export function checkSchema(path: string): void {
  const db = Connection.forInspection(path)
  try {
    // In one state: another process may be changing the schema.
    db.exec('BEGIN')
    inspectSchema(db)
  } finally {
    db.close()
  }
}

/** Checks the schema as {@link checkSchema} does, on a connection in a transaction; returns the version and the contract of the store. */
export function inspectSchema(db: Connection): StoredSheet {
  try {
    const found = schemaOf(db)
    const sheet = found.get(SHEET)
    if (sheet === undefined) throw storeError(`is not the store of a sheet; ${NO_STORE}`)
    const versions = schemasOfVersions()
    if (![...versions.values()].some((schema) => schema.get(SHEET) === sheet)) throw notOurs(SHEET)
    const { version, contract } = readSheet(db)
    const expected = new Map([...(versions.get(version) ?? []), ...schemaOfRecords(contract, version)])
    const other = firstDifference(found, expected)
    if (other !== null) throw notOurs(other)
    if (version >= FIELD_CHANGES_SINCE) checkKept(db)
    return { version, contract }
  } catch (error) {
    // These statements are correct: a generic error of SQLite is the file's fault.
    throw sqliteCode(error) === SQLITE_ERROR
      ? storeError(`cannot be read; ${NO_STORE}`, 'store_unusable')
      : error
  }
}

/** The first version with changes of fields. */
const FIELD_CHANGES_SINCE = 19

/** Checks that the columns that changes of fields name are those of the table. */
function checkKept(db: Connection): void {
  const columns = new Map(
    db.all(`SELECT name, type FROM pragma_table_info('$data')`).map(({ name, type }) => [name, type]),
  )
  let kept: readonly KeptColumn[]
  try {
    const changes = db.query(FIELD_CHANGES)
    if (!areStoredChanges(changes)) throw notOurs('$field_change')
    kept = keptColumns(changes)
  } catch {
    throw notOurs('$field_change')
  }
  const isOurs = ({ name, type }: KeptColumn): boolean =>
    isKeptColumn(name) && columns.get(name) === (COLUMN_TYPES as Record<string, string>)[type]
  if (!kept.every(isOurs)) throw notOurs('$field_change')
}

/** The items of a schema, by type, name and table, in a form that is equal for two stores. */
type Schema = ReadonlyMap<string, string>

const SHEET = 'table $sheet on $sheet'

/** The SQL that each version of the tables added. */
const VERSIONS: Readonly<Record<number, string>> = { 1: FIRST_TABLES, ...MIGRATIONS }

/** Tables that ANALYZE creates: SQLite plans queries by them, and runs nothing. */
const STATISTICS: ReadonlyMap<unknown, string> = new Map([
  ['sqlite_stat1', 'CREATE TABLE sqlite_stat1(tbl,idx,stat)'],
  ['sqlite_stat3', 'CREATE TABLE sqlite_stat3(tbl,idx,neq,nlt,ndlt,sample)'],
  ['sqlite_stat4', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'],
])

function isOfStore({ type, name, tbl_name: table, sql }: StoredRow): boolean {
  return !(type === 'table' && name === table && sql !== null && STATISTICS.get(name) === sql)
}

function schemaOf(db: Connection): Schema {
  const rows = db.all('SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema').filter(isOfStore)
  const pages = rows.map(({ rootpage }) => rootpage).filter((page) => page !== 0)
  const schema = new Map(
    rows.map(({ type, name, tbl_name: table, sql }) => [
      `${String(type)} ${String(name)} on ${String(table)}`,
      normal(String(sql)),
    ]),
  )
  // A manipulated schema may name an item twice, or use a page for two of them.
  if (schema.size < rows.length || new Set(pages).size < pages.length) throw notOurs('the schema')
  return schema
}

let ofVersions: ReadonlyMap<number, Schema> | null = null

/** Returns the schemas of all versions, without the records. */
function schemasOfVersions(): ReadonlyMap<number, Schema> {
  if (ofVersions !== null) return ofVersions
  const db = Connection.inMemory()
  try {
    return (ofVersions = new Map(
      Object.entries(VERSIONS).map(([version, sql]) => {
        db.exec(sql)
        return [Number(version), schemaOf(db)]
      }),
    ))
  } finally {
    db.close()
  }
}

/** Returns the schema items of a contract's records in a version. */
function schemaOfRecords(contract: Contract, version: number): Schema {
  const db = Connection.inMemory()
  try {
    const indexes = fieldIndexes(contract).flatMap(({ since, sql }) => (since <= version ? [sql] : []))
    for (const sql of [dataTable(contract), recordsView(contract), ...indexes]) db.exec(sql)
    return schemaOf(db)
  } finally {
    db.close()
  }
}

/** The version and the contract of a store. */
export interface StoredSheet {
  readonly version: number
  readonly contract: Contract
}

function readSheet(db: Connection): StoredSheet {
  const row = db.get('SELECT schema_version, contract FROM "$sheet"')
  const version = Number(row?.['schema_version'])
  if (version > SCHEMA_VERSION) {
    throw storeError('was made by a later version of Colophon; use that version')
  }
  if (!(version >= 1)) throw notOurs('$sheet.schema_version')
  try {
    return { version, contract: parseStoredContract(String(row?.['contract'])) }
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    throw storeError(`holds a contract that cannot be read (${error.message}); ${NO_STORE}`)
  }
}

/** Returns the name of an item that only one of the schemas has, or that differs; null for none. */
function firstDifference(found: Schema, expected: Schema): string | null {
  for (const [key, sql] of found) if (expected.get(key) !== sql) return key
  for (const key of expected.keys()) if (!found.has(key)) return key
  return null
}

function notOurs(what: string): RecordsError {
  return storeError(
    `is not as this version of Colophon makes it (${showValue(what)}); use the version that made it, or ${NO_STORE}`,
  )
}

function storeError(
  message: string,
  code: 'store_version' | 'store_unusable' = 'store_version',
): RecordsError {
  return new RecordsError(...fileError({ file: 'sheet.db', line: null, message }, code))
}

/** A column that keeps earlier values; see `kept-columns.ts`. */
const KEPT = /^"\$kept_\d{1,16}_\d{1,4}" (?:TEXT|INTEGER|REAL)$/

/**
 * Returns a statement without the differences between stores: spaces, the order of the columns of the records' table, and
 * those that keep earlier values.
 */
function normal(sql: string): string {
  const text = sql.replace(/\s+/g, ' ').replace(/ ?([(),]) ?/g, '$1')
  const [, start, columns, end] = /^(CREATE TABLE "\$data"\()(.*)(\)STRICT)$/.exec(text) ?? []
  if (columns === undefined) return text
  const ofFields = columns.split(',').filter((column) => !KEPT.test(column))
  return `${start}${ofFields.toSorted().join()}${end}`
}
