import { ValidationError } from '../../errors/service-error.ts'
import { checkColumns } from '../check-columns.ts'
import { Batch, valuesOf, type FileSource, type RawRecord, type RawRecords } from '../raw-records.ts'
import { readText, type TextReader } from '../read-text.ts'
import { detectDialect } from './csv-dialect.ts'
import { CsvParser, type CsvRow } from './csv-parser.ts'
import { unguardFormula } from './formula-guard.ts'

/** How much of a file tells its delimiter. */
const LOOK_AHEAD = 64 << 10

export interface CsvReadOptions {
  /** Takes cells as they are, apostrophes before formulas included. */
  readonly raw: boolean
}

/**
 * Reads a CSV file: the first line names the columns, the delimiter is found out. A cell with nothing in it is absent, one
 * with a pair of quotes is an empty text. Throws ValidationError naming line and column.
 */
export async function readCsvFile(source: FileSource, { raw }: CsvReadOptions): Promise<RawRecords> {
  const text = await readText(source)
  const first = await rowsOf(source, text).next()
  if (first.done === true) {
    throw new ValidationError(`${source.name} is empty; its first line must name the columns`)
  }
  const fields = checkColumns(textsOf(first.value), `${source.name}:${first.value.line}`)
  return {
    source,
    fields,
    cells: 'text',
    unit: 'line',
    batches: { [Symbol.asyncIterator]: () => batchesOf(rowsOf(source, text), { source, fields, raw }) },
    progress: () => text.progress(),
  }
}

async function* rowsOf(source: FileSource, { pieces }: TextReader): AsyncGenerator<CsvRow> {
  let parser: CsvParser | null = null
  let start = ''
  for await (const piece of pieces) {
    if (parser !== null) {
      yield* parser.push(piece)
      continue
    }
    start += piece
    if (start.length < LOOK_AHEAD) continue
    const opened = open(source, start)
    parser = opened.parser
    yield* parser.push(opened.text)
  }
  if (parser === null) {
    const opened = open(source, start)
    parser = opened.parser
    yield* parser.push(opened.text)
  }
  yield* parser.end()
}

function open({ name }: FileSource, start: string): { parser: CsvParser; text: string } {
  const dialect = detectDialect(start.slice(0, LOOK_AHEAD))
  const line = dialect.start === 0 ? 1 : 2
  return {
    parser: new CsvParser({ name, delimiter: dialect.delimiter, line }),
    text: start.slice(dialect.start),
  }
}

function textsOf({ cells }: CsvRow): string[] {
  return cells.map((cell) => cell ?? '')
}

async function* batchesOf(
  rows: AsyncGenerator<CsvRow>,
  { source, fields, raw }: { source: FileSource; fields: readonly string[]; raw: boolean },
): AsyncGenerator<readonly RawRecord[]> {
  // The header.
  await rows.next()
  const batch = new Batch()
  for await (const { cells, line, size } of rows) {
    if (cells.length !== fields.length) {
      throw new ValidationError(
        `${source.name}:${line}: the line has ${count(cells.length, 'cell')}, but the header has ${count(fields.length, 'column')}`,
      )
    }
    const texts = raw ? cells : cells.map((cell) => (cell === undefined ? cell : unguardFormula(cell)))
    batch.add({ values: valuesOf(fields, texts), at: line }, size)
    if (batch.isFull) yield batch.take()
  }
  if (!batch.isEmpty) yield batch.take()
}

function count(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${number} ${what}s`
}
