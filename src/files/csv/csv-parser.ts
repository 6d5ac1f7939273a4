import { ValidationError } from '../../errors/service-error.ts'
import { MAX_COLUMNS, MAX_RECORD_SIZE, tooLargeRecord } from '../io/file-limits.ts'

/** A row of cells, which may span several lines of text. */
export interface CsvRow {
  /** `undefined` for a cell with nothing between the delimiters; an empty pair of quotes is an empty text. */
  readonly cells: readonly (string | undefined)[]
  /** The line of text on which it begins, from 1. */
  readonly line: number
  /** Its approximate length in characters. */
  readonly size: number
}

export interface CsvParserOptions {
  /** The name of the file in messages. */
  readonly name: string
  readonly delimiter: string
  /** The number of the first line of text. */
  readonly line: number
}

const QUOTE = 34
const LF = 10
const CR = 13

/**
 * Parses CSV (RFC 4180) that arrives in pieces. Lines end in CRLF, LF or CR; empty lines are ignored. Custom code,
 * since libraries that distinguish `""` from an empty cell are ten times slower.
 */
export class CsvParser {
  readonly #name: string
  readonly #delimiter: number
  #line: number
  #text = ''
  /** The length of text at which parsing is tried again: a row that spans many pieces is parsed few times. */
  #worthwhile = 0

  constructor({ name, delimiter, line }: CsvParserOptions) {
    this.#name = name
    this.#delimiter = delimiter.charCodeAt(0)
    this.#line = line
  }

  /** Returns the rows that end in the text so far. Throws ValidationError naming line and character. */
  *push(piece: string): Generator<CsvRow> {
    this.#text += piece
    if (this.#text.length < this.#worthwhile) return
    yield* this.#rows(false)
  }

  /** Returns the last row, if its line does not end. */
  *end(): Generator<CsvRow> {
    yield* this.#rows(true)
  }

  *#rows(last: boolean): Generator<CsvRow> {
    const text = this.#text
    let from = 0
    for (;;) {
      const row = this.#row(text, from, last)
      if (row === null) break
      from = row.end
      const { cells, line } = row
      this.#line = row.nextLine
      // A line without anything on it.
      if (cells.length > 1 || cells[0] !== undefined) yield { cells, line, size: row.size }
      if (from >= text.length) break
    }
    this.#text = text.slice(from)
    if (this.#text.length > MAX_RECORD_SIZE) throw tooLargeRecord(`${this.#name}:${this.#line}`)
    this.#worthwhile = this.#text.length * 2
  }

  /** Parses the row at an offset; returns null if it does not end within the text. */
  #row(text: string, start: number, last: boolean): ParsedRow | null {
    if (start >= text.length) return null
    const cells: (string | undefined)[] = []
    const cursor: Cursor = { at: start, line: this.#line, lineStart: start }
    for (;;) {
      const cell =
        text.charCodeAt(cursor.at) === QUOTE ? this.#quoted(text, cursor, last) : this.#plain(text, cursor)
      if (cell === null) return null
      cells.push(cell.text)
      if (cells.length > MAX_COLUMNS) {
        throw new ValidationError(
          `${this.#name}:${this.#line}: the line has more than ${MAX_COLUMNS} cells`,
          'unreadable_file',
        )
      }
      const next = text.charCodeAt(cursor.at)
      if (next === this.#delimiter) {
        cursor.at += 1
        continue
      }
      const end = endOfRow(text, cursor.at, last)
      if (end === null) return null
      return { cells, line: this.#line, end, nextLine: cursor.line + 1, size: end - start }
    }
  }

  /** Parses a cell without quotes: up to the next delimiter or end of line. */
  #plain(text: string, cursor: Cursor): Cell {
    const start = cursor.at
    let at = start
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code === this.#delimiter || code === LF || code === CR) break
    }
    cursor.at = at
    return { text: at === start ? undefined : text.slice(start, at) }
  }

  #quoted(text: string, cursor: Cursor, last: boolean): Cell | null {
    const start = cursor.at + 1
    const character = start - cursor.lineStart
    let doubled = false
    let close = text.indexOf('"', start)
    while (close !== -1 && text.charCodeAt(close + 1) === QUOTE) {
      doubled = true
      close = text.indexOf('"', close + 2)
    }
    // At the very end of the text, the next piece might have its pair.
    if (close === -1 || (close + 1 === text.length && !last)) {
      if (!last) return null
      throw new ValidationError(
        `${this.#name}:${cursor.line}, character ${character}: the quote that starts a text here is never closed`,
        'unreadable_file',
      )
    }
    const cell = text.slice(start, close)
    cursor.at = close + 1
    countLines(text, cursor, start, close)
    const next = text.charCodeAt(cursor.at)
    if (cursor.at < text.length && next !== this.#delimiter && next !== LF && next !== CR) {
      throw new ValidationError(
        `${this.#name}:${cursor.line}, character ${cursor.at - cursor.lineStart + 1}: there is text after the quote that ` +
          'ends a cell; a quote inside a text is written twice',
        'unreadable_file',
      )
    }
    return { text: doubled ? cell.replaceAll('""', '"') : cell }
  }
}

interface Cell {
  readonly text: string | undefined
}

interface ParsedRow extends CsvRow {
  readonly end: number
  readonly nextLine: number
}

interface Cursor {
  at: number
  line: number
  /** The offset of the start of the line. */
  lineStart: number
}

/** Returns the offset of the next row, or null if more text is needed. */
function endOfRow(text: string, at: number, last: boolean): number | null {
  if (at >= text.length) return last ? at : null
  if (text.charCodeAt(at) === LF) return at + 1
  if (at + 1 >= text.length && !last) return null
  return text.charCodeAt(at + 1) === LF ? at + 2 : at + 1
}

function countLines(text: string, cursor: Cursor, from: number, to: number): void {
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at)
    if (code !== LF && (code !== CR || text.charCodeAt(at + 1) === LF)) continue
    cursor.line += 1
    cursor.lineStart = at + 1
  }
}
