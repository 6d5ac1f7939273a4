import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { TextDecoder } from 'node:util'
import { SheetError, ValidationError } from '../errors/service-error.ts'
import type { FileSource } from './raw-records.ts'

/** Bytes that are read at once. */
const CHUNK = 256 << 10

/** The size of a file in bytes. Throws SheetError where there is none, ValidationError for a directory. */
export async function sizeOfFile({ path, name }: FileSource): Promise<number> {
  let stats: Stats
  try {
    stats = await stat(path)
  } catch (error) {
    throw asSourceError(error, name)
  }
  if (stats.isDirectory()) throw new ValidationError(`${name} is a directory; name a file in it`)
  return stats.size
}

/** What keeps a file from being read, as an error for whoever named it. Anything else is a bug, and stays what it is. */
export function asSourceError(error: unknown, name: string): unknown {
  const code = (error as { code?: unknown }).code
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new SheetError(`${name}: no such file`)
    case 'EACCES':
    case 'EPERM':
      return new ValidationError(`${name}: the file may not be read by this user`)
    case 'EISDIR':
      return new ValidationError(`${name} is a directory; name a file in it`)
    default:
      return error
  }
}

/** A file of text as it is read. */
export interface TextReader {
  /** The text from its start, in pieces, without a byte order mark. */
  readonly pieces: AsyncIterable<string>
  /** How much the last pass has seen, from 0 to 1. */
  progress(): number
}

/**
 * Reads a file of text: UTF-8, or UTF-16 if it has a byte order mark. Throws as {@link sizeOfFile} does; the pieces throw
 * ValidationError for bytes that are no text.
 */
export async function readText(source: FileSource): Promise<TextReader> {
  const size = await sizeOfFile(source)
  let seen = 0
  async function* pieces(): AsyncGenerator<string> {
    seen = 0
    let decoder: PieceDecoder | null = null
    try {
      for await (const chunk of createReadStream(source.path, { highWaterMark: CHUNK })) {
        const bytes = chunk as Buffer
        decoder ??= new PieceDecoder(bytes, source.name)
        seen += bytes.length
        const text = decoder.decode(bytes)
        if (text !== '') yield text
      }
    } catch (error) {
      throw asSourceError(error, source.name)
    }
    const rest = decoder?.end() ?? ''
    if (rest !== '') yield rest
  }
  return {
    pieces: { [Symbol.asyncIterator]: pieces },
    progress: () => (size === 0 ? 1 : Math.min(1, seen / size)),
  }
}

class PieceDecoder {
  readonly #name: string
  readonly #encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  readonly #decoder: TextDecoder
  #lines = 1

  constructor(start: Uint8Array, name: string) {
    this.#name = name
    this.#encoding = encodingOf(start)
    this.#decoder = new TextDecoder(this.#encoding, { fatal: true })
  }

  decode(bytes: Uint8Array): string {
    return this.#text(() => this.#decoder.decode(bytes, { stream: true }), bytes)
  }

  end(): string {
    return this.#text(() => this.#decoder.decode(), new Uint8Array())
  }

  #text(decode: () => string, bytes: Uint8Array): string {
    let text: string
    try {
      text = decode()
    } catch {
      const line = this.#lines + this.#goodLines(bytes)
      const advice = this.#encoding === 'utf-8' ? 'save it as UTF-8' : 'save it again'
      throw new ValidationError(
        `${this.#name}:${line}: the file has bytes that are not ${this.#encoding.toUpperCase()}; ${advice}`,
      )
    }
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#lines += 1
    return text
  }

  /** How many lines of a chunk end before what is wrong in it. */
  #goodLines(bytes: Uint8Array): number {
    if (this.#encoding !== 'utf-8') return 0
    const shown = new TextDecoder().decode(bytes)
    // The start may complete a character of the chunk before.
    const bad = shown.indexOf('\uFFFD', 4)
    return shown.slice(0, bad === -1 ? 0 : bad).split('\n').length - 1
  }
}

function encodingOf(start: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : 'utf-8'
}
