import type { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { SaxesParser } from 'saxes'
import { ServiceError, ValidationError } from '../../errors/service-error.ts'

/** Handlers of the elements of a part, whose names have no prefix. */
export interface XmlHandlers {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  close(name: string): void
  /** Receives the text of an element, whole or in parts. */
  text(text: string): void
}

export interface XmlSource {
  /** The name of the part in messages. */
  readonly name: string
  readonly stream: Readable
  /** The most decompressed bytes. */
  readonly limit: number
  /** Receives the number of decompressed bytes of each piece. */
  onRead?(bytes: number): void
}

/** The most levels of elements; SpreadsheetML has about ten. */
const MAX_DEPTH = 100

/** The most characters of a text, tag or attribute, which parsers store whole. */
const MAX_TOKEN = 4 << 20

/**
 * Reads XML piece by piece; the caller can process the results after each piece. Refuses document types, deep nesting
 * and endless texts, which no spreadsheet program writes and which expand a small file. Throws ValidationError.
 */
export async function* readXml(source: XmlSource, handlers: XmlHandlers): AsyncGenerator<void> {
  const { name, stream, limit, onRead } = source
  const parser = new GuardedParser(name, handlers)
  let bytes = 0
  let decoder: TextDecoder | null = null
  try {
    for await (const chunk of stream) {
      const piece = chunk as Buffer
      bytes += piece.length
      if (bytes > limit) {
        throw new ValidationError(
          `${name}: it is larger than ${limit >> 20} MiB once it is decompressed`,
          'unreadable_file',
        )
      }
      onRead?.(piece.length)
      decoder ??= new TextDecoder(encodingOf(piece), { fatal: true })
      parser.write(decoder.decode(piece, { stream: true }))
      yield
    }
    parser.write(decoder?.decode() ?? '')
    parser.end()
    yield
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ValidationError(
      `${name}: it cannot be read: ${error instanceof Error ? error.message : ''}`,
      'unreadable_file',
    )
  } finally {
    stream.destroy()
  }
}

function encodingOf(start: Buffer): string {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : 'utf-8'
}

class GuardedParser {
  readonly #name: string
  readonly #parser = new SaxesParser<{ position: false; xmlns: false }>({ position: false, xmlns: false })
  #depth = 0
  /** The number of characters since the last event of the parser. */
  #silent = 0

  constructor(name: string, handlers: XmlHandlers) {
    this.#name = name
    this.#parser.on('error', (error) => {
      throw new ValidationError(`${name}: it is no well-formed XML: ${error.message}`, 'unreadable_file')
    })
    this.#parser.on('doctype', () => {
      throw new ValidationError(`${name}: it has a document type, which no workbook needs`, 'unreadable_file')
    })
    this.#parser.on('opentag', (tag) => {
      this.#silent = 0
      this.#depth += 1
      if (this.#depth > MAX_DEPTH)
        throw new ValidationError(`${name}: its elements are nested too deep`, 'unreadable_file')
      handlers.open(localName(tag.name), tag.attributes)
    })
    this.#parser.on('closetag', (tag) => {
      this.#silent = 0
      this.#depth -= 1
      handlers.close(localName(tag.name))
    })
    const onText = (text: string): void => {
      this.#silent = 0
      handlers.text(text)
    }
    this.#parser.on('text', onText)
    this.#parser.on('cdata', onText)
  }

  write(text: string): void {
    this.#silent += text.length
    this.#parser.write(text)
    if (this.#silent > MAX_TOKEN + text.length) {
      throw new ValidationError(
        `${this.#name}: it has a text or a tag that is larger than possible`,
        'unreadable_file',
      )
    }
  }

  end(): void {
    this.#parser.close()
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
