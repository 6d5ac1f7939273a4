import { ValidationError } from '../../errors/service-error.ts'
import { Batch, valuesOf, type FileSource, type RawRecord, type RawRecords } from '../io/raw-records.ts'
import type { ReadFileOptions } from '../io/read-options.ts'
import { findHead, isBlank, type SampleRow, type TableHead } from '../columns/table-head.ts'
import { chooseWorksheet } from './choose-worksheet.ts'
import { MergedCells } from './merged-cells.ts'
import { readWorkbook, type Workbook } from './read-workbook.ts'
import { WorkbookArchive } from './workbook-archive.ts'
import { UnreadFormulas, WorksheetRows, type WorksheetRow } from './worksheet-rows.ts'
import { columnName } from './xlsx-cells.ts'

/** The number of rows from which the head of a table is detected. */
const SAMPLE_ROWS = 100

/** A worksheet while it is read. */
interface Reading {
  readonly source: FileSource
  readonly workbook: Workbook
  /** The part of the archive with its cells. */
  readonly part: string
  readonly merged: MergedCells
  /** The number of rows that are skipped. */
  readonly skip: number
  readonly nulls: readonly string[]
  readonly formulas: UnreadFormulas
  seen: number
}

/**
 * Reads a worksheet of an XLSX file. The worksheet, the column names and the rows above them are detected unless the
 * options set them. A formula has its stored value, a date is text, and merged rows all have their value. Throws
 * ValidationError naming row and cell.
 */
export async function readXlsxFile(source: FileSource, options: ReadFileOptions = {}): Promise<RawRecords> {
  const { skip = null, header = null, sheet = null, nulls = [] } = options
  const { reading, chosen, size } = await WorkbookArchive.with(source, async (archive) => {
    const workbook = await readWorkbook(archive, source.name)
    const base = { source, workbook, skip: skip ?? 0, nulls, seen: 0 }
    const found = await chooseWorksheet(workbook.worksheets, sheet, {
      name: source.name,
      sampleOf: ({ part }) =>
        sampleOf({ ...base, part, merged: MergedCells.NONE, formulas: new UnreadFormulas() }),
    })
    const { part } = found.worksheet
    const merged = await MergedCells.read(archive, part, source.name)
    const opened: Reading = { ...base, part, merged, formulas: new UnreadFormulas() }
    return { reading: opened, chosen: found, size: archive.sizeOf(part) }
  })
  if (chosen.sample.length === 0) {
    throw new ValidationError(
      `${source.name}: the worksheet is empty; its first row must name the columns`,
      'unreadable_file',
    )
  }
  const head = findHead(await sampleOf(reading), {
    width: Math.max(...chosen.sample.map(({ cells }) => cells.length)),
    header,
    first: skip !== null,
    cells: 'cells',
    unit: 'row',
    place: (row) => `${source.name}, row ${row}`,
  })
  const top = chosen.sample[head.rows]?.at ?? chosen.sample.at(-1)?.at ?? 1
  return {
    source,
    fields: head.names.filter((name) => name !== undefined),
    cells: 'cells',
    unit: 'row',
    batches: { [Symbol.asyncIterator]: () => batchesOf(reading, head) },
    guesses: () =>
      [chosen.guess, ...head.guesses, mergedGuess(reading, top), reading.formulas.guess()].filter(
        (guess) => guess !== null,
      ),
    progress: () => (size === 0 ? 1 : Math.min(1, reading.seen / size)),
  }
}

function mergedGuess({ merged }: Reading, top: number): string | null {
  const first = merged.firstFrom(top)
  return first === null
    ? null
    : `cells are merged over rows, such as ${first}: each of the rows has their value`
}

async function* rowsOf(reading: Reading): AsyncGenerator<readonly WorksheetRow[]> {
  const { source, workbook, part, merged, skip, nulls, formulas } = reading
  reading.seen = 0
  formulas.restart()
  const archive = await WorkbookArchive.open(source)
  try {
    const rows = new WorksheetRows(source.name, { workbook, nulls, formulas })
    const fill = merged.filler()
    const pieces = archive.readWorksheet(part, rows, (bytes) => (reading.seen += bytes))
    for await (const _piece of pieces) {
      const ended = rows
        .take()
        .map(fill)
        .filter(({ number }) => number > skip)
      if (ended.length > 0) yield ended
    }
  } finally {
    archive.close()
  }
}

/** Returns the first rows, up to the first error. */
async function sampleOf(reading: Reading): Promise<readonly SampleRow[]> {
  const sample: SampleRow[] = []
  try {
    for await (const rows of rowsOf(reading)) {
      for (const { cells, number } of rows) {
        sample.push({ cells: Array.from(cells) as SampleRow['cells'], at: number })
        if (sample.length === SAMPLE_ROWS) return sample
      }
    }
  } catch (error) {
    if (sample.length === 0 || !(error instanceof ValidationError)) throw error
  }
  return sample
}

async function* batchesOf(
  reading: Reading,
  { names, rows: above }: TableHead,
): AsyncGenerator<readonly RawRecord[]> {
  const { source } = reading
  const batch = new Batch()
  let left = above
  for await (const rows of rowsOf(reading)) {
    for (const { cells, number, size, unread } of rows) {
      if (left > 0) {
        left -= 1
        continue
      }
      // A row that is only formatted may have cells.
      if (unread.length === 0 && (cells as SampleRow['cells']).every(isBlank)) continue
      checkCells(cells, names, { name: source.name, number })
      const unknown = unread.flatMap((column) => names[column] ?? [])
      batch.add(
        {
          values: valuesOf(names, cells as SampleRow['cells']),
          at: number,
          ...(unknown.length === 0 ? {} : { unknown }),
        },
        size,
      )
      if (batch.isFull) yield batch.take()
    }
  }
  if (!batch.isEmpty) yield batch.take()
}

/** Throws ValidationError for a value in a column without a name. */
function checkCells(
  cells: WorksheetRow['cells'],
  names: TableHead['names'],
  { name, number }: { readonly name: string; readonly number: number },
): void {
  const nameless = cells.findIndex(
    (cell, column) => names[column] === undefined && cell !== undefined && cell !== '',
  )
  if (nameless === -1) return
  throw new ValidationError(
    `${name}, row ${number}: the cell ${columnName(nameless)}${number} has a value, but the header has no name for its column`,
    'unreadable_file',
  )
}
