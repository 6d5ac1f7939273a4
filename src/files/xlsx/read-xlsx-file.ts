import type { JsonValue } from '../../contract/json.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { checkColumns } from '../check-columns.ts'
import { Batch, valuesOf, type FileSource, type RawRecord, type RawRecords } from '../raw-records.ts'
import { readWorkbook, type Workbook } from './read-workbook.ts'
import { WorkbookArchive } from './workbook-archive.ts'
import { WorksheetRows, type WorksheetRow } from './worksheet-rows.ts'
import { columnName } from './xlsx-cells.ts'

/** An open file, and how far it has been read. */
interface Reading {
  readonly source: FileSource
  readonly workbook: Workbook
  seen: number
}

/**
 * Reads the first worksheet of an XLSX file that is not hidden: its first row with something in it names the columns. A
 * formula counts as the value that it was stored with, a date as its text. Throws ValidationError naming row and cell.
 */
export async function readXlsxFile(source: FileSource): Promise<RawRecords> {
  const { workbook, size } = await WorkbookArchive.with(source, async (archive) => {
    const found = await readWorkbook(archive, source.name)
    return { workbook: found, size: archive.sizeOf(found.worksheet) }
  })
  const reading: Reading = { source, workbook, seen: 0 }
  const fields = await headerOf(reading)
  return {
    source,
    fields,
    cells: 'cells',
    unit: 'row',
    batches: { [Symbol.asyncIterator]: () => batchesOf(reading, fields) },
    progress: () => (size === 0 ? 1 : Math.min(1, reading.seen / size)),
  }
}

async function* rowsOf(reading: Reading): AsyncGenerator<readonly WorksheetRow[]> {
  const { source, workbook } = reading
  reading.seen = 0
  const archive = await WorkbookArchive.open(source)
  try {
    const rows = new WorksheetRows(source.name, workbook)
    const pieces = archive.readWorksheet(workbook.worksheet, rows, (bytes) => (reading.seen += bytes))
    for await (const _piece of pieces) {
      const ended = rows.take()
      if (ended.length > 0) yield ended
    }
  } finally {
    archive.close()
  }
}

async function headerOf(reading: Reading): Promise<readonly string[]> {
  const { source } = reading
  for await (const [row] of rowsOf(reading)) {
    if (row === undefined) continue
    const names = Array.from(row.cells, (cell) => String(cell ?? ''))
    return checkColumns(names, `${source.name}, row ${row.number}`)
  }
  throw new ValidationError(`${source.name}: the worksheet is empty; its first row must name the columns`)
}

async function* batchesOf(reading: Reading, fields: readonly string[]): AsyncGenerator<readonly RawRecord[]> {
  const { source } = reading
  const batch = new Batch()
  let header = true
  for await (const rows of rowsOf(reading)) {
    for (const { cells, number, size } of rows) {
      if (header) {
        header = false
        continue
      }
      if (cells.length > fields.length) {
        const cell = `${columnName(cells.length - 1)}${number}`
        throw new ValidationError(
          `${source.name}, row ${number}: the cell ${cell} has a value, but the header has no name for its column`,
        )
      }
      batch.add({ values: valuesOf(fields, cells as readonly JsonValue[]), at: number }, size)
      if (batch.isFull) yield batch.take()
    }
  }
  if (!batch.isEmpty) yield batch.take()
}
