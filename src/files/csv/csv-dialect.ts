import { ValidationError } from '../../errors/service-error.ts'
import { countAbove, type SampleRow } from '../columns/table-head.ts'
import { CsvParser } from './csv-parser.ts'

/** The layout of a CSV file, detected from its start. */
export interface CsvDialect {
  readonly delimiter: string
  /** The offset in the text of the first row, after a line `sep=…` and skipped lines. */
  readonly start: number
  /** The line number of that offset, from 1. */
  readonly line: number
  /** The first rows. */
  readonly sample: readonly SampleRow[]
  /** The number of cells of most rows. */
  readonly width: number
}

export interface DialectOptions {
  /** The name of the file in messages. */
  readonly name: string
  /** The requested delimiter, if any. */
  readonly delimiter: string | null
  /** The delimiter that the extension of the file suggests. */
  readonly hint: string | null
  /** The number of lines to skip; null to detect it. */
  readonly skip: number | null
  /** Whether the text is the whole file. */
  readonly whole: boolean
}

const DELIMITERS = [',', ';', '\t', '|']

/** The number of rows from which the layout is detected. */
const SAMPLE_ROWS = 100

/**
 * Detects the layout of a file from its start. The delimiter is the requested one, that of a first line `sep=;`, or
 * the one that produces a table: of several, the one with the fewest rows above it, then with the most columns.
 * Throws ValidationError for a file with fewer lines than are to be skipped.
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

/** Puts the hint first: of equal candidates, the first is chosen. */
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
  /** The number of rows above the table. */
  readonly above: number
  /** The number of columns of its first row. */
  readonly columns: number
  /** Whether all rows of the table have the same number of cells. */
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
  // If no row ends within the text, its start is used.
  const [top] =
    sample.length > 0 ? sample.slice(above) : sampleOf(text, new CsvParser({ name, delimiter, line }), true)
  const columns = top?.cells.length ?? 0
  const fits = sample.slice(above).every(({ cells }) => cells.length === columns)
  return { delimiter, sample, width, above, columns, fits }
}

/** Returns the first rows of a text, up to the first error. */
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

/** Returns the number of cells that most rows have; the larger of two that are equally frequent. */
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
