import { TextDecoder } from 'node:util'
import { ValidationError } from '../../errors/service-error.ts'
import { detectEncoding } from './detect-encoding.ts'
import { openBytes } from './file-bytes.ts'
import type { FileSource } from './raw-records.ts'

/** A text file being read. */
export interface TextReader {
  /** The text from its start, in pieces, without a byte order mark. */
  readonly pieces: AsyncIterable<string>
  /** The guess of the encoding; null for none. */
  readonly guess: string | null
  /** Returns the part that the last iteration has read, from 0 to 1. */
  progress(): number
}

/**
 * Reads a text file, decompressed if necessary, in an encoding (a label of the Encoding Standard), or in the detected
 * one if that is null. Throws like {@link openBytes} and {@link detectEncoding}; the pieces throw ValidationError for
 * invalid bytes.
 */
export async function readText(source: FileSource, encoding: string | null): Promise<TextReader> {
  const { chunks, progress } = await openBytes(source)
  const { label, guess } =
    encoding === null ? await detectEncoding(chunks, source.name) : { label: encoding, guess: null }
  async function* pieces(): AsyncGenerator<string> {
    const decoder = new PieceDecoder(label, source.name)
    for await (const bytes of chunks) {
      const text = decoder.decode(bytes)
      if (text !== '') yield text
    }
    const rest = decoder.end()
    if (rest !== '') yield rest
  }
  return { pieces: { [Symbol.asyncIterator]: pieces }, guess, progress }
}

class PieceDecoder {
  readonly #name: string
  readonly #decoder: TextDecoder
  #lines = 1

  constructor(label: string, name: string) {
    this.#name = name
    this.#decoder = decoderOf(label)
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
      throw new ValidationError(
        `${this.#name}:${line}: the file has bytes that are not ${this.#decoder.encoding.toUpperCase()}; ` +
          'save it again, or name its encoding with --encoding',
        'unknown_encoding',
      )
    }
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#lines += 1
    return text
  }

  /** Returns the number of lines of a chunk before its first error. */
  #goodLines(bytes: Uint8Array): number {
    const shown = new TextDecoder(this.#decoder.encoding).decode(bytes)
    // The start may complete a character of the previous chunk.
    const bad = shown.indexOf('\uFFFD', 4)
    return shown.slice(0, bad === -1 ? 0 : bad).split('\n').length - 1
  }
}

/** Whether a label names a supported encoding. */
export function isEncoding(label: string): boolean {
  try {
    decoderOf(label)
    return true
  } catch {
    return false
  }
}

function decoderOf(label: string): TextDecoder {
  return new TextDecoder(label, { fatal: true })
}
