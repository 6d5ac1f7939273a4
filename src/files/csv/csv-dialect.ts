import { ValidationError } from '../../errors/service-error.ts'
import { countAbove, type SampleRow } from '../columns/table-head.ts'
import { CsvParser } from './csv-parser.ts'

/** How a CSV file is laid out, as far as its start tells. */
export interface CsvDialect {
  readonly delimiter: string
  /** Where in the text the rows start, after a line `sep=…` and the lines to be skipped. */
  readonly start: number
  /** The number of the line there, from 1. */
  readonly line: number
  /** The first rows. */
  readonly sample: readonly SampleRow[]
  /** The number of cells that most of them have. */
  readonly width: number
}

export interface DialectOptions {
  /** What messages call the file. */
  readonly name: string
  /** The delimiter, where somebody said it. */
  readonly delimiter: string | null
  /** The delimiter that the file's name speaks for. */
  readonly hint: string | null
  /** Lines to be skipped; null to find out. */
  readonly skip: number | null
  /** Whether the text is the whole file. */
  readonly whole: boolean
}

const DELIMITERS = [',', ';', '\t', '|']

/** Rows that tell a layout. */
const SAMPLE_ROWS = 100

/**
 * Finds out the layout of a file from its start. The delimiter is the one asked for, that of a first line `sep=;`, or the one
 * that makes a table of the rows: of several, with the fewest rows above it, and then with the most columns. Throws ValidationError for a file with fewer lines than
 * are to be skipped.
 */
export function detectDialect(text: string, options: DialectOptions): CsvDialect {
  const stated = /^sep=([^\r\n"])(?:\r\n|\r|\n)/i.exec(text)
  const from = stated === null ? { start: 0, line: 1 } : { start: stated[0].length, line: 2 }
  const { start, line } = skipLines(text, from, options)
  const known = options.delimiter ?? stated?.[1] ?? null
  const rest = text.slice(start)
  const looks = (known === null ? delimitersFor(options.hint) : [known]).map((delimiter) =>
    look(rest, delimiter, { ...options, line }),
  )
  const [first, ...others] = looks
  if (first === undefined) throw new Error('a file is looked at with no delimiter')
  const best = others.reduce((one, other) => (isBetter(other, one) ? other : one), first)
  return { delimiter: best.delimiter, start, line, sample: best.sample, width: best.width }
}

/** The hint first: of equals, the first is taken. */
function delimitersFor(hint: string | null): readonly string[] {
  return hint === null ? DELIMITERS : [hint, ...DELIMITERS.filter((delimiter) => delimiter !== hint)]
}

function skipLines(
  text: string,
  { start, line }: { readonly start: number; readonly line: number },
  { skip, name }: DialectOptions,
): { readonly start: number; readonly line: number } {
  const breaks = /\r\n|\r|\n/g
  breaks.lastIndex = start
  let at = start
  for (let skipped = 0; skipped < (skip ?? 0); skipped += 1) {
    if (breaks.exec(text) === null) {
      throw new ValidationError(
        `${name}: fewer lines than the ${skip} that are to be skipped, or very long ones`,
        'unreadable_file',
      )
    }
    at = breaks.lastIndex
  }
  return { start: at, line: line + (skip ?? 0) }
}

interface Look {
  readonly delimiter: string
  readonly sample: readonly SampleRow[]
  readonly width: number
  /** Rows above the table. */
  readonly above: number
  /** Columns of its first row. */
  readonly columns: number
  /** Whether each row of the table has as many cells. */
  readonly fits: boolean
}

function look(
  text: string,
  delimiter: string,
  { name, whole, line, skip }: DialectOptions & { readonly line: number },
): Look {
  const sample = sampleOf(text, new CsvParser({ name, delimiter, line }), whole)
  const width = usualWidth(sample)
  const above = skip === null ? countAbove(sample, width) : 0
  // When not even one row ends in the text, its start has to do.
  const [top] =
    sample.length > 0 ? sample.slice(above) : sampleOf(text, new CsvParser({ name, delimiter, line }), true)
  const columns = top?.cells.length ?? 0
  const fits = sample.slice(above).every(({ cells }) => cells.length === columns)
  return { delimiter, sample, width, above, columns, fits }
}

/** The first rows of a text, up to what is wrong in it. */
function sampleOf(text: string, parser: CsvParser, whole: boolean): SampleRow[] {
  const rows: SampleRow[] = []
  try {
    for (const { cells, line } of parser.push(text)) {
      rows.push({ cells, at: line })
      if (rows.length === SAMPLE_ROWS) return rows
    }
    if (whole) for (const { cells, line } of parser.end()) rows.push({ cells, at: line })
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
  }
  return rows
}

/** The number of cells that most rows have; the larger of two that are as usual. */
function usualWidth(rows: readonly SampleRow[]): number {
  const counts = new Map<number, number>()
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1)
  const [usual] = [...counts].toSorted(([a, times], [b, others]) => others - times || b - a)
  return usual?.[0] ?? 0
}

function isBetter(one: Look, other: Look): boolean {
  if (one.columns < 2 || other.columns < 2) return one.columns > other.columns
  if (one.fits !== other.fits) return one.fits
  return one.above === other.above ? one.columns > other.columns : one.above < other.above
}
