import { join } from 'node:path'
import type { OtherSheet } from '../../derivation/definition/derivation-kind.ts'
import type { Table } from '../../derivation/kinds/lookup/table.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import { Batch, type RawRecord, type RawRecords } from '../../files/io/raw-records.ts'
import { readRecordFile } from '../../files/read-record-file.ts'
import { isPassing, sheetProblem } from './other-sheets.ts'
import { withOtherStore, type OtherStore } from './other-store.ts'

/** The columns to read of another sheet. */
export interface SheetColumns {
  readonly path: string
  readonly sheet: OtherSheet
  readonly columns: readonly string[]
}

/**
 * Reads a table from these columns of another sheet, whose path is `path`, with `tableOf`. Returns the reason as text if it cannot be read;
 * where that may be over soon, the next operation tries again.
 */
export async function readSheetTable(
  { path, sheet, columns }: SheetColumns,
  tableOf: (records: RawRecords) => Promise<Table>,
): Promise<Result<Table, string>> {
  const { directory, file } = sheet
  const wanted = new Set(columns)
  try {
    if (file === 'sheet.db') {
      return ok(await withOtherStore(directory, (store) => tableOf(recordsOf(store, path, wanted))))
    }
    const source = { path: join(directory, file), name: `${path}/${file}` }
    return ok(await tableOf(await readRecordFile(source, 'ndjson')))
  } catch (error) {
    if (isPassing(error)) sheet.retry()
    return err(error instanceof ValidationError ? error.message : sheetProblem(path, error))
  }
}

function recordsOf(store: OtherStore, name: string, wanted: ReadonlySet<string>): RawRecords {
  const { fields } = store.contract
  return {
    source: { path: '', name },
    fields: fields.map((field) => field.name),
    cells: 'values',
    unit: 'record',
    batches: { [Symbol.asyncIterator]: () => batchesOf(store, wanted) },
    progress: () => 0,
  }
}

async function* batchesOf(
  store: OtherStore,
  wanted: ReadonlySet<string>,
): AsyncGenerator<readonly RawRecord[]> {
  const batch = new Batch()
  let at = 0
  for (const { values, size } of store.rows(store.contract.fields.filter(({ name }) => wanted.has(name)))) {
    batch.add({ values, at: (at += 1) }, size)
    if (batch.isFull) yield batch.take()
  }
  if (!batch.isEmpty) yield batch.take()
}
