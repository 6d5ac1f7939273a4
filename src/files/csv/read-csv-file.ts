import { ValidationError } from '../../errors/service-error.ts'
import { delimiterOf } from '../io/file-format.ts'
import { Batch, valuesOf, type FileSource, type RawRecord, type RawRecords } from '../io/raw-records.ts'
import type { ReadFileOptions } from '../io/read-options.ts'
import { readText, type TextReader } from '../io/read-text.ts'
import { findHead, isBlank, type SampleRow, type TableHead } from '../columns/table-head.ts'
import { detectDialect, type CsvDialect } from './csv-dialect.ts'
import { CsvParser, type CsvRow } from './csv-parser.ts'
import { unguardFormula } from './formula-guard.ts'

/** The number of bytes from which the layout is detected. */
const LOOK_AHEAD = 64 << 10

/** The number of rows from which the head of a table is detected if rows are long, and their length in characters. */
const FEW_ROWS = 10
const FEW_ROWS_SIZE = 4 << 20

/** A file and its layout. */
interface CsvFile {
  readonly source: FileSource
  readonly text: TextReader
  readonly dialect: CsvDialect
  readonly head: TableHead
  readonly raw: boolean
  readonly blankIsText: boolean
}

/**
 * Reads a CSV file. Delimiter, column names and lines above them are detected unless the options set them. An empty
 * cell is absent, and so is an empty pair of quotes unless `blank` is `empty`. Throws ValidationError naming line and
 * column.
 */
export async function readCsvFile(source: FileSource, options: ReadFileOptions): Promise<RawRecords> {
  const { raw = false, encoding = null, skip = null, header = null } = options
  const text = await readText(source, encoding)
  const start = await startOf(text)
  const dialect = detectDialect(start.text, {
    name: source.name,
    delimiter: options.delimiter ?? null,
    hint: delimiterOf(source.name),
    skip,
    whole: start.whole,
  })
  const place = (line: number): string => `${source.name}:${line}`
  const rows = await firstRows(source, text, dialect)
  const head = findHead(rows, {
    width: dialect.width > 0 ? dialect.width : (rows[0]?.cells.length ?? 0),
    header,
    first: skip !== null,
    cells: 'text',
    unit: 'line',
    place,
  })
  if (head.names.length === 0) {
    throw new ValidationError(
      `${source.name} is empty; its first line must name the columns`,
      'unreadable_file',
    )
  }
  const fields = head.names.filter((name) => name !== undefined)
  const file: CsvFile = { source, text, dialect, head, raw, blankIsText: options.blank === 'empty' }
  return {
    source,
    fields,
    cells: 'text',
    unit: 'line',
    batches: { [Symbol.asyncIterator]: () => batchesOf(file) },
    guesses: () => [...(text.guess === null ? [] : [text.guess]), ...head.guesses],
    progress: () => text.progress(),
  }
}

/** Returns the start of a text, and whether that is all of it. */
async function startOf({ pieces }: TextReader): Promise<{ readonly text: string; readonly whole: boolean }> {
  let text = ''
  for await (const piece of pieces) {
    text += piece
    if (text.length >= LOOK_AHEAD) return { text: text.slice(0, LOOK_AHEAD), whole: false }
  }
  return { text, whole: true }
}

/** Returns the rows for detecting the head: those of the sample, or more if long rows make it short. */
async function firstRows(
  source: FileSource,
  text: TextReader,
  dialect: CsvDialect,
): Promise<CsvDialect['sample']> {
  if (dialect.sample.length >= FEW_ROWS) return dialect.sample
  const rows: SampleRow[] = []
  let seen = 0
  for await (const { cells, line, size } of rowsOf({ source, text, dialect })) {
    rows.push({ cells, at: line })
    seen += size
    if (rows.length >= FEW_ROWS || seen > FEW_ROWS_SIZE) break
  }
  return rows
}

async function* rowsOf({
  source: { name },
  text,
  dialect: { delimiter, start, line },
}: Pick<CsvFile, 'source' | 'text' | 'dialect'>): AsyncGenerator<CsvRow> {
  const parser = new CsvParser({ name, delimiter, line })
  let before = start
  for await (const piece of text.pieces) {
    const skipped = Math.min(before, piece.length)
    before -= skipped
    yield* parser.push(skipped === 0 ? piece : piece.slice(skipped))
  }
  yield* parser.end()
}

async function* batchesOf(file: CsvFile): AsyncGenerator<readonly RawRecord[]> {
  const { source, head, raw, blankIsText } = file
  const batch = new Batch()
  let above = head.rows
  for await (const { cells, line, size } of rowsOf(file)) {
    if (above > 0) {
      above -= 1
      continue
    }
    // Spreadsheet programs write such a line for a formatted row without values.
    if (cells.every((cell) => cell === undefined)) continue
    checkCells(cells, head.names, `${source.name}:${line}`)
    const texts = cells.map((cell) => {
      if (cell === undefined || (cell === '' && !blankIsText)) return undefined
      return raw ? cell : unguardFormula(cell)
    })
    if (!blankIsText && texts.every(isBlank)) continue
    batch.add({ values: valuesOf(head.names, texts), at: line }, size)
    if (batch.isFull) yield batch.take()
  }
  if (!batch.isEmpty) yield batch.take()
}

/** Throws ValidationError for a line with too few cells, and for a value in a column without a name. */
function checkCells(cells: CsvRow['cells'], names: TableHead['names'], place: string): void {
  // A delimiter at the end of each line does not make a column.
  const extra = cells.length > names.length && cells.slice(names.length).some((cell) => cell !== undefined)
  if (cells.length < names.length || extra) {
    throw new ValidationError(
      `${place}: the line has ${count(cells.length, 'cell')}, but the header has ${count(names.length, 'column')}`,
      'unreadable_file',
    )
  }
  const nameless = names.findIndex((name, column) => name === undefined && (cells[column] ?? '') !== '')
  if (nameless === -1) return
  throw new ValidationError(
    `${place}: column ${nameless + 1} has a value, but no name; name it, or take it out`,
    'unreadable_file',
  )
}

function count(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${number} ${what}s`
}
