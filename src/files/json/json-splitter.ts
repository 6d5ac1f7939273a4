import { ValidationError } from '../../errors/service-error.ts'
import { MAX_RECORD_SIZE, tooLargeRecord } from '../io/file-limits.ts'
import { pathText } from './find-records.ts'

/** The JSON text of one item of an array. */
export interface JsonItem {
  readonly text: string
  /** Its number in the array, from 1. */
  readonly number: number
  /** The line that it begins on, from 1. */
  readonly line: number
}

/** The next expected token, besides white space. */
type Expected =
  | 'start'
  | 'firstKey'
  | 'key'
  | 'colon'
  | 'memberValue'
  | 'memberEnd'
  | 'firstItem'
  | 'item'
  | 'itemEnd'
  | 'end'

/**
 * Splits JSON text that arrives in pieces into the items of an array, which may be reached through members of
 * objects. Finds only the start and end of items; the parser of an item validates it.
 */
export class JsonSplitter {
  readonly #name: string
  #expected: Expected = 'start'
  #line = 1
  /** The number of characters of the line before the piece; negative if the line begins in the piece. */
  #before = 0
  /** The offset of the scan in the piece. */
  #at = 0
  #items = 0
  readonly #path: readonly string[]
  /** The number of open objects of the path. */
  #level = 0
  #key = ''
  #found = false
  /** The incomplete value: its pieces so far, its start, and the state of the scan. */
  #value: OpenValue | null = null

  /** `path` has the names of the members that lead to the array. */
  constructor(name: string, path: readonly string[]) {
    this.#name = name
    this.#path = path
  }

  /** Returns the items that end in this piece. Throws ValidationError naming line and character. */
  *push(piece: string): Generator<JsonItem> {
    this.#at = 0
    while (this.#at < piece.length) {
      if (this.#value !== null) {
        const end = this.#value.scan(piece, this.#at)
        this.#countLines(piece, this.#at, end.at)
        this.#at = end.at
        if (this.#value.size > MAX_RECORD_SIZE) throw tooLargeRecord(this.#placeOfValue(this.#value))
        if (!end.done) break
        const item = this.#endValue(this.#value)
        if (item !== null) yield item
        continue
      }
      const char = piece[this.#at] ?? ''
      if (char === ' ' || char === '\n' || char === '\r' || char === '\t') {
        this.#countLines(piece, this.#at, this.#at + 1)
        this.#at += 1
        continue
      }
      this.#at += this.#step(char)
    }
    this.#before += piece.length
    this.#at = 0
  }

  /** Ends the text. Throws ValidationError if it is incomplete. */
  end(): void {
    if (this.#expected === 'end') return
    throw this.#fault(
      this.#expected === 'start' ? 'the file is empty' : 'the file ends too early; was it cut off?',
    )
  }

  /** Processes a character that is not white space; returns 0 if it begins a value and must be read again. */
  #step(char: string): 0 | 1 {
    switch (this.#expected) {
      case 'start':
        if (char !== (this.#path.length === 0 ? '[' : '{')) throw this.#fault(this.#shape())
        this.#level = char === '{' ? 1 : 0
        this.#expected = char === '{' ? 'firstKey' : 'firstItem'
        return 1
      case 'firstKey':
      case 'key':
        if (char === '}' && this.#expected === 'firstKey') return this.#endObject()
        if (char !== '"') throw this.#unexpected(char)
        return this.#begin()
      case 'colon':
        if (char !== ':') throw this.#unexpected(char)
        this.#expected = 'memberValue'
        return 1
      case 'memberValue':
        if (this.#key !== this.#path[this.#level - 1]) return this.#begin()
        return this.#follow(char)
      case 'memberEnd':
        if (char === '}') return this.#endObject()
        if (char !== ',') throw this.#unexpected(char)
        this.#expected = 'key'
        return 1
      case 'firstItem':
        if (char === ']') return this.#endArray()
        return this.#begin()
      case 'item':
        return this.#begin()
      case 'itemEnd':
        if (char === ']') return this.#endArray()
        if (char !== ',') throw this.#unexpected(char)
        this.#expected = 'item'
        return 1
      case 'end':
        throw this.#fault(
          'there is more after the end; a file with a record on each line is NDJSON, with a name that ends in .ndjson',
        )
    }
  }

  /** Continues along the path, into an object or the array. */
  #follow(char: string): 1 {
    const last = this.#level === this.#path.length
    if (char !== (last ? '[' : '{')) {
      throw this.#fault(`${JSON.stringify(this.#key)} must be an ${last ? 'array of records' : 'object'}`)
    }
    if (this.#found) throw this.#fault(`${JSON.stringify(this.#key)} is there twice`)
    if (!last) this.#level += 1
    this.#expected = last ? 'firstItem' : 'firstKey'
    return 1
  }

  #begin(): 0 {
    // Skipped values are not stored.
    this.#value = new OpenValue(this.#line, this.#expected !== 'memberValue')
    return 0
  }

  #endValue(value: OpenValue): JsonItem | null {
    this.#value = null
    switch (this.#expected) {
      case 'firstKey':
      case 'key':
        this.#key = keyOf(value.text())
        this.#expected = 'colon'
        return null
      case 'memberValue':
        this.#expected = 'memberEnd'
        return null
      default:
        this.#expected = 'itemEnd'
        this.#items += 1
        return { text: value.text(), number: this.#items, line: value.line }
    }
  }

  #placeOfValue({ line }: OpenValue): string {
    const inRecord = this.#expected === 'item' || this.#expected === 'firstItem'
    return `${this.#name}:${line}${inRecord ? `, record ${this.#items + 1}` : ''}`
  }

  #countLines(piece: string, from: number, to: number): void {
    for (let at = piece.indexOf('\n', from); at !== -1 && at < to; at = piece.indexOf('\n', at + 1)) {
      this.#line += 1
      this.#before = -(at + 1)
    }
  }

  #endArray(): 1 {
    this.#found = true
    this.#expected = this.#level > 0 ? 'memberEnd' : 'end'
    return 1
  }

  #endObject(): 1 {
    this.#level -= 1
    if (this.#level === 0 && !this.#found) throw this.#fault(this.#shape())
    this.#expected = this.#level === 0 ? 'end' : 'memberEnd'
    return 1
  }

  #shape(): string {
    if (this.#path.length === 0) return 'the file must be an array of records, or an object with one'
    return `the file must be an object with an array of records at ${pathText(this.#path)}`
  }

  #unexpected(char: string): ValidationError {
    return this.#fault(`not JSON: ${JSON.stringify(char)} is not expected here`)
  }

  #fault(what: string): ValidationError {
    return new ValidationError(
      `${this.#name}:${this.#line}, character ${this.#before + this.#at + 1}: ${what}`,
      'unreadable_file',
    )
  }
}

function keyOf(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}

/** A value whose end has not been read. */
class OpenValue {
  readonly line: number
  readonly #pieces: string[] = []
  #depth = 0
  #inText = false
  #escaped = false
  #started = false
  size = 0
  readonly #kept: boolean

  constructor(line: number, kept: boolean) {
    this.line = line
    this.#kept = kept
  }

  text(): string {
    return this.#pieces.join('')
  }

  /** Continues the value in a piece from an offset; returns the offset after it, or the end of the piece. */
  scan(piece: string, from: number): { readonly at: number; readonly done: boolean } {
    let at = from
    let done = false
    while (at < piece.length && !done) {
      const char = piece.charCodeAt(at)
      if (this.#inText) {
        at = this.#scanText(piece, at)
        done = !this.#inText && this.#depth === 0
        continue
      }
      // The character that ends a bare word, such as a number, belongs to the enclosing value.
      if (this.#started && this.#depth === 0 && ENDS.has(char)) {
        done = true
        break
      }
      this.#started = true
      at += 1
      if (char === QUOTE) this.#inText = true
      else if (OPENS.has(char)) this.#depth += 1
      else if (CLOSES.has(char)) {
        this.#depth -= 1
        done = this.#depth <= 0
      }
    }
    if (this.#kept) {
      this.#pieces.push(piece.slice(from, at))
      this.size += at - from
    }
    return { at, done }
  }

  #scanText(piece: string, from: number): number {
    let at = from
    for (; at < piece.length; at += 1) {
      const char = piece.charCodeAt(at)
      if (this.#escaped) this.#escaped = false
      else if (char === BACKSLASH) this.#escaped = true
      else if (char === QUOTE) {
        this.#inText = false
        return at + 1
      }
    }
    return at
  }
}

const QUOTE = 34
const BACKSLASH = 92
const OPENS = codesOf('[{')
const CLOSES = codesOf(']}')
const ENDS = codesOf(',]} \n\r\t:')

function codesOf(chars: string): ReadonlySet<number> {
  return new Set(Array.from(chars, (char) => char.charCodeAt(0)))
}
