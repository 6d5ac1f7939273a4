import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import type { Source } from '../../derivation/definition/derivation-kind.ts'
import {
  keyText,
  type Table,
  type TableColumns,
  type TableReader,
  type TableRow,
} from '../../derivation/kinds/lookup/table.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import { ServiceError, ValidationError } from '../../errors/service-error.ts'
import { ColumnReadings } from '../../files/inference/column-readings.ts'
import { typeCells } from '../../files/inference/type-cells.ts'
import { formatOf } from '../../files/io/file-format.ts'
import { wrapped } from '../../files/io/null-texts.ts'
import type { RawRecord, RawRecords } from '../../files/io/raw-records.ts'
import { readRecordFile } from '../../files/read-record-file.ts'
import { readSheetTable } from './read-sheet-table.ts'

/**
 * The maximum size of the rows that are kept of a table, in bytes of memory, approximately; a row with short values takes about
 * {@link ROW_BYTES}.
 */
const MAX_TABLE_BYTES = 256 * 1024 * 1024
const ROW_BYTES = 200

/** The number of rows that are typed between two turns of the event loop: a few milliseconds. */
const ROWS_AT_ONCE = 500

/**
 * Reads a table from a source, a file or another sheet, with the limits and guards of files of records. Cells have the types of the fields
 * that they are compared with or become. Returns the reason as text for a source that has no content, is no table or lacks a column.
 */
export const readTable: TableReader = tableReader(MAX_TABLE_BYTES)

/** Returns {@link readTable} with another bound on the rows that are kept. */
export function tableReader(maxBytes: number): TableReader {
  return (source, columns, contract) => read(source, { columns, contract, maxBytes })
}

/** The columns and types of a table, and the most bytes of its rows that are kept. */
interface TableOptions {
  readonly columns: TableColumns
  readonly contract: Contract
  readonly maxBytes: number
}

async function read(source: Source, options: TableOptions): Promise<Result<Table, string>> {
  const { columns } = options
  const { path, bytes, problem, sheet } = source
  if (sheet !== undefined) {
    const wanted = [columns.key, ...Object.values(columns.values)]
    return readSheetTable({ path, sheet, columns: wanted }, (records) => tableOf(records, options))
  }
  const format = formatOf(path)
  if (bytes === null || format === null) return err(problem === '' ? `${path} is no table` : problem)
  const folder = await mkdtemp(join(tmpdir(), 'colophon-table-'))
  try {
    // Readers of files seek in them; the bytes are those that were checked.
    const file = join(folder, `table${extname(path)}`)
    await writeFile(file, bytes, { mode: 0o600 })
    return ok(await tableOf(await readRecordFile({ path: file, name: path }, format), options))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return err(error.message)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the rows of records by key. Throws ValidationError for records that have no such column, cannot be read or are too many. */
async function tableOf(file: RawRecords, { columns, contract, maxBytes }: TableOptions): Promise<Table> {
  const { key, match, values } = columns
  const wanted = [[match, key] as const, ...Object.entries(values)]
  if (file.fields !== null) {
    for (const [, column] of wanted) checkColumn(column, file.fields, file.source.name)
  }
  const fields = wrapped(file, async function* () {
    for await (const batch of file.batches) {
      for (let start = 0; start < batch.length; start += ROWS_AT_ONCE) {
        await nextTurn()
        yield batch.slice(start, start + ROWS_AT_ONCE).map((record) => withFields(record, wanted))
      }
    }
  })
  const readings = new ColumnReadings({
    file: fields,
    fieldOf: (name) => contract.fieldByName.get(name),
    dateOrder: null,
    lenient: true,
  })
  const targets = Object.keys(values)
  const rows = new Map<string, TableRow>()
  let bytes = 0
  for await (const batch of fields.batches) {
    await readings.settle(batch)
    for (const { values: raw } of batch) {
      const typed = typeCells(contract, raw, { cells: file.cells, readings })
      const text = keyText(typed[match] ?? null)
      if (text === null) continue
      const known = rows.get(text)
      if (known !== undefined) {
        rows.set(text, { ...known, count: known.count + 1 })
        continue
      }
      const row = rowOf(typed, targets)
      bytes += ROW_BYTES + 2 * text.length + targets.reduce((sum, target) => sum + sizeOf(row[target]), 0)
      if (bytes > maxBytes) throw tooLarge(file.source.name, maxBytes)
      rows.set(text, { values: row, count: 1 })
    }
  }
  return rows
}

function withFields(
  record: RawRecord,
  wanted: readonly (readonly [field: string, column: string])[],
): RawRecord {
  const values: Record<string, JsonValue> = {}
  for (const [field, column] of wanted) {
    const value = Object.hasOwn(record.values, column) ? record.values[column] : undefined
    if (value !== undefined) values[field] = value
  }
  return { ...record, values }
}

function rowOf(typed: JsonObject, targets: readonly string[]): JsonObject {
  return Object.fromEntries(targets.map((target) => [target, typed[target] ?? null]))
}

/** Returns the bytes of a value that are not in {@link ROW_BYTES}. */
function sizeOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return 2 * value.length
  return typeof value === 'object' && value !== null ? 4 * JSON.stringify(value).length : 0
}

function tooLarge(name: string, maxBytes: number): ValidationError {
  return new ValidationError(
    `${name} has too many rows: what is looked up in it takes more than ${maxBytes / 1024 / 1024} MiB of memory`,
  )
}

function checkColumn(column: string, columns: readonly string[], name: string): void {
  if (columns.includes(column)) return
  throw new ValidationError(`${name} has no column ${showValue(column)}; it has ${showNames(columns)}`)
}
