import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import type { Source } from '../../derivation/definition/derivation-kind.ts'
import { keyText, type Table, type TableColumns, type TableRow } from '../../derivation/kinds/lookup/table.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import { ServiceError, ValidationError } from '../../errors/service-error.ts'
import { ColumnReadings } from '../../files/inference/column-readings.ts'
import { typeCells } from '../../files/inference/type-cells.ts'
import { formatOf } from '../../files/io/file-format.ts'
import { wrapped } from '../../files/io/null-texts.ts'
import type { RawRecord, RawRecords } from '../../files/io/raw-records.ts'
import { readRecordFile } from '../../files/read-record-file.ts'

/** The number of rows that are typed between two turns of the event loop: a few milliseconds. */
const ROWS_AT_ONCE = 500

/**
 * Reads a table from a source, with the limits and guards of files of records. Cells have the types of the fields that they are compared
 * with or become. Returns the reason as text for a source that has no content, is no table or lacks a column.
 */
export async function readTable(
  source: Source,
  columns: TableColumns,
  contract: Contract,
): Promise<Result<Table, string>> {
  const { path, bytes, problem } = source
  const format = formatOf(path)
  if (bytes === null || format === null) return err(problem === '' ? `${path} is no table` : problem)
  const folder = await mkdtemp(join(tmpdir(), 'colophon-table-'))
  try {
    // Readers of files seek in them; the bytes are those that were checked.
    const file = join(folder, `table${extname(path)}`)
    await writeFile(file, bytes, { mode: 0o600 })
    return ok(await tableOf(await readRecordFile({ path: file, name: path }, format), columns, contract))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return err(error.message)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function tableOf(file: RawRecords, columns: TableColumns, contract: Contract): Promise<Table> {
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
  const rows = new Map<string, TableRow>()
  for await (const batch of fields.batches) {
    await readings.settle(batch)
    for (const { values: raw } of batch) {
      const typed = typeCells(contract, raw, { cells: file.cells, readings })
      const text = keyText(typed[match] ?? null)
      if (text === null) continue
      const known = rows.get(text)
      rows.set(
        text,
        known === undefined
          ? { values: rowOf(typed, Object.keys(values)), count: 1 }
          : { ...known, count: known.count + 1 },
      )
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

function checkColumn(column: string, columns: readonly string[], name: string): void {
  if (columns.includes(column)) return
  throw new ValidationError(`${name} has no column ${showValue(column)}; it has ${showNames(columns)}`)
}
