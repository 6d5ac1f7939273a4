import { randomUUID } from 'node:crypto'
import { parseExactly } from './exact-json.ts'
import { JSON_DEPTH_LIMIT, nestsTooDeep } from './json-depth.ts'

/** The bytes of JSON that are parsed at once, before extending to a possible cut. */
export const PART_BYTES: number = 32 << 10

/** The most bytes that cannot be cut: of a number, the name of a member, or white space. */
export const UNCUT_BYTES: number = 1 << 20

/** Thrown for JSON that nests deeper than {@link JSON_DEPTH_LIMIT}. */
export class DepthError extends Error {}

/** Thrown for more than {@link UNCUT_BYTES} that cannot be cut. */
export class UncutError extends Error {}

type Container = unknown[] | Record<string, unknown>

/** An array or object that is open at the cut. */
interface Frame {
  readonly isArray: boolean
  /** The offset of the name of the last member, with its quotes. */
  keyStart: number
  keyEnd: number
  awaitsKey: boolean
}

/** A container of the whole value that continues in the next part. */
interface OpenContainer {
  readonly container: Container
  /** The member whose value continues; null in an array, and if the next part starts with another member. */
  readonly key: string | null
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const LETTER_U = 0x75
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/**
 * Parses JSON in UTF-8 like {@link parseExactly}, part by part: yields each parsed part, and returns the whole value.
 * The caller decides when to continue. A part begins and ends with the open brackets, so that `JSON.parse` reads
 * each; arrays, objects and strings may be cut. Throws SyntaxError, {@link DepthError} and {@link UncutError}.
 */
export function* parseInParts(bytes: Uint8Array): Generator<unknown, unknown> {
  const parts = new PartParser(bytes)
  for (let part = parts.next(); part !== null; part = parts.next()) yield part.value
  return parts.whole
}

class PartParser {
  readonly #bytes: Buffer
  readonly #frames: Frame[] = []
  /** A placeholder for the name of a member whose value continues from the previous part. */
  readonly #continued = randomUUID()
  #at = 0
  /** The start of the part, and its opening brackets. */
  #start = 0
  #prefix = ''
  #inString = false
  /** Whether only white space has followed the comma at which the previous part ended. */
  #afterCut = false
  #lastSignificant = 0
  /** The containers that the previous part left open, outermost first. */
  #open: readonly OpenContainer[] = []
  #endedInString = false
  #hasEnded = false
  whole: unknown

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte)) this.#start = this.#at = 3
  }

  /** Parses the next part; returns null if there is none. */
  next(): { readonly value: unknown } | null {
    if (this.#hasEnded) return null
    const cut = this.#findCut()
    const end = cut === null ? this.#bytes.length : this.#at
    const text = this.#prefix + this.#bytes.toString('utf8', this.#start, end) + (cut?.suffix ?? '')
    const value = this.#parse(text)
    this.#add(value)
    if (cut === null) {
      this.#hasEnded = true
    } else {
      this.#start = cut.next
      this.#at = cut.next
      this.#prefix = this.#openers() + (this.#inString ? '"' : '')
      this.#endedInString = this.#inString
      this.#afterCut = !this.#inString
      this.#open = this.#openContainers()
    }
    return { value }
  }

  #parse(text: string): unknown {
    try {
      const value = parseExactly(text)
      if (nestsTooDeep(value)) throw new DepthError()
      return value
    } catch (error) {
      if (!(error instanceof SyntaxError) || this.#prefix === '') throw error
      // Without the offset, which is relative to the part.
      const fault = error.message.replace(/(?:, [^]* is not valid JSON| in JSON at position [^]*)$/, '')
      throw new SyntaxError(`${fault} after byte ${this.#start}`)
    }
  }

  /** Advances to the end of the part; returns null at the end of the text. */
  #findCut(): { readonly suffix: string; readonly next: number } | null {
    const bytes = this.#bytes
    const { length } = bytes
    while (this.#at < length) {
      if (this.#inString || bytes[this.#at] === QUOTE) {
        if (this.#skipString()) return { suffix: `"${this.#closers()}`, next: this.#at }
        continue
      }
      const byte = bytes[this.#at] as number
      if (byte === COMMA && this.#mayCutHere()) {
        this.#separate()
        return { suffix: this.#closers(), next: this.#at + 1 }
      }
      this.#pass(byte)
      this.#at += 1
      if (this.#at - this.#start > PART_BYTES + UNCUT_BYTES) throw new UncutError()
    }
    return null
  }

  #mayCutHere(): boolean {
    const isFirst = this.#lastSignificant === OPEN_ARRAY || this.#lastSignificant === OPEN_OBJECT
    return this.#at - this.#start >= PART_BYTES && this.#frames.length > 0 && !isFirst && !this.#afterCut
  }

  #pass(byte: number): void {
    if (byte <= 0x20) return
    if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#enter(byte === OPEN_ARRAY)
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#leave(byte === CLOSE_ARRAY)
    else if (byte === COMMA) this.#separate()
    this.#afterCut = false
    this.#lastSignificant = byte
  }

  #enter(isArray: boolean): void {
    if (this.#frames.length === JSON_DEPTH_LIMIT) throw new DepthError()
    this.#frames.push({ isArray, keyStart: 0, keyEnd: 0, awaitsKey: !isArray })
  }

  #leave(isArray: boolean): void {
    const frame = this.#frames.pop()
    if (this.#afterCut || frame?.isArray !== isArray) {
      throw new SyntaxError(`Unexpected token '${isArray ? ']' : '}'}' at byte ${this.#at}`)
    }
  }

  #separate(): void {
    const frame = this.#frames.at(-1)
    if (frame !== undefined) frame.awaitsKey = !frame.isArray
  }

  /** Advances to the end of a string; returns true if the part ends before. */
  #skipString(): boolean {
    const bytes = this.#bytes
    const { length } = bytes
    const frame = this.#frames.at(-1)
    const isKey = frame?.awaitsKey === true
    const start = this.#at
    let at = this.#inString ? start : start + 1
    const most = this.#start + PART_BYTES + (isKey ? UNCUT_BYTES : 0)
    for (; at < length; at += 1) {
      const byte = bytes[at] as number
      if (byte === QUOTE) break
      // Between two characters, outside of escapes.
      if (at >= most && (byte & 0xc0) !== 0x80) {
        if (isKey) throw new UncutError()
        this.#inString = true
        this.#at = at
        return true
      }
      if (byte === BACKSLASH) at += bytes[at + 1] === LETTER_U ? 5 : 1
    }
    if (isKey) {
      frame.keyStart = start
      frame.keyEnd = at + 1
      frame.awaitsKey = false
    }
    this.#inString = false
    this.#afterCut = false
    this.#lastSignificant = QUOTE
    this.#at = Math.min(at + 1, length)
    return false
  }

  #closers(): string {
    return this.#frames
      .map(({ isArray }) => (isArray ? ']' : '}'))
      .toReversed()
      .join('')
  }

  #openers(): string {
    const last = this.#frames.length - 1
    return this.#frames
      .map(({ isArray }, index) => {
        if (isArray) return '['
        return index < last || this.#inString ? `{"${this.#continued}":` : '{'
      })
      .join('')
  }

  /** Returns the containers of the whole value that are open at the end of the part. */
  #openContainers(): OpenContainer[] {
    const open: OpenContainer[] = []
    const last = this.#frames.length - 1
    let value = this.whole
    for (const [index, { isArray, keyStart, keyEnd }] of this.#frames.entries()) {
      const container = value as Container
      const continues = index < last || this.#inString
      const key =
        isArray || !continues ? null : (JSON.parse(this.#bytes.toString('utf8', keyStart, keyEnd)) as string)
      open.push({ container, key })
      value = Array.isArray(container) ? container.at(-1) : key === null ? undefined : container[key]
    }
    return open
  }

  /** Adds a part to the whole value; its outermost containers are those that the previous part left open. */
  #add(part: unknown): void {
    this.whole = this.#prefix === '' ? part : this.#joined(this.whole, part, 0)
  }

  /** Joins a value that continues in the part: an open container, or a string. */
  #joined(before: unknown, more: unknown, level: number): unknown {
    const open = this.#open[level]
    if (open === undefined) return String(before) + String(more)
    const { container, key } = open
    if (Array.isArray(container)) {
      const items = more as unknown[]
      const continues = level < this.#open.length - 1 || this.#endedInString
      if (continues) container.push(this.#joined(container.pop(), items[0], level + 1))
      for (let index = continues ? 1 : 0; index < items.length; index += 1) container.push(items[index])
      return container
    }
    const members = more as Record<string, unknown>
    if (key !== null)
      setMember(container, key, this.#joined(container[key], members[this.#continued], level + 1))
    for (const name of Object.keys(members)) {
      if (name !== this.#continued) setMember(container, name, members[name])
    }
    return container
  }
}

/** Sets a member like JSON.parse, for which `__proto__` is an ordinary name. */
function setMember(container: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    container[key] = value
  }
}
