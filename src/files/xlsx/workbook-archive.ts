import { open as openFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { openPromise, type Entry, type ZipFile } from 'yauzl'
import { ServiceError, ValidationError } from '../../errors/service-error.ts'
import type { FileSource } from '../io/raw-records.ts'
import { asSourceError, sizeOfFile } from '../io/source-error.ts'
import { readXml, type XmlHandlers } from './read-xml.ts'

/** The most parts of a workbook. */
const MAX_PARTS = 10_000

/** The most decompressed bytes of a part that is stored whole, and of a worksheet, which is not. */
export const MAX_KEPT_PART = 256 << 20
export const MAX_WORKSHEET = 16 * 1024 ** 3

/** The first bytes of compound files: workbooks from before 2007, and encrypted ones. */
const COMPOUND_FILE = 'd0cf11e0'

/** The parts of an XLSX file. */
export class WorkbookArchive {
  readonly #source: FileSource
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>

  private constructor(source: FileSource, zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#source = source
    this.#zip = zip
    this.#entries = entries
  }

  /** Opens an archive while `read` runs. Throws ValidationError for an invalid one. */
  static async with<T>(source: FileSource, read: (archive: WorkbookArchive) => Promise<T>): Promise<T> {
    const archive = await WorkbookArchive.open(source)
    try {
      return await read(archive)
    } finally {
      archive.close()
    }
  }

  /** Opens an archive, which the caller must close. Throws ValidationError for an invalid one. */
  static async open(source: FileSource): Promise<WorkbookArchive> {
    await checkKind(source)
    let zip: ZipFile | null = null
    try {
      zip = await openPromise(source.path, { lazyEntries: true, autoClose: false, validateEntrySizes: true })
      const entries = new Map<string, Entry>()
      for await (const entry of zip.eachEntry()) {
        if (entries.size === MAX_PARTS)
          throw new ValidationError(`${source.name} has more than ${MAX_PARTS} parts`, 'unreadable_file')
        entries.set(entry.fileName.toLowerCase(), entry)
      }
      return new WorkbookArchive(source, zip, entries)
    } catch (error) {
      zip?.close()
      throw asArchiveError(error, source)
    }
  }

  has(part: string): boolean {
    return this.#entries.has(part.toLowerCase())
  }

  /** Returns the declared size of a part. */
  sizeOf(part: string): number {
    return this.#entries.get(part.toLowerCase())?.uncompressedSize ?? 0
  }

  /** Reads a part that is small or stored in memory. Does nothing if it does not exist. */
  async read(part: string, handlers: XmlHandlers): Promise<void> {
    if (!this.has(part)) return
    for await (const _piece of this.#read(part, handlers, { limit: MAX_KEPT_PART })) continue
  }

  /** Reads a worksheet; the caller can process the results after each piece. */
  readWorksheet(part: string, handlers: XmlHandlers, onRead: (bytes: number) => void): AsyncGenerator<void> {
    return this.#read(part, handlers, { limit: MAX_WORKSHEET, onRead })
  }

  /**
   * Whether the bytes of a part contain a text, which is faster to find than by reading its XML. Counts its bytes
   * too.
   */
  async contains(part: string, text: string): Promise<boolean> {
    const stream = await this.#streamOf(part)
    const needle = Buffer.from(text)
    let rest: Buffer = Buffer.alloc(0)
    let bytes = 0
    try {
      for await (const chunk of stream) {
        const piece = Buffer.concat([rest, chunk as Buffer])
        if (piece.includes(needle)) return true
        bytes += (chunk as Buffer).length
        // Reading the part reports that it is too large.
        if (bytes > MAX_WORKSHEET) return false
        rest = piece.subarray(Math.max(0, piece.length - needle.length + 1))
      }
      return false
    } catch (error) {
      throw asArchiveError(error, this.#source)
    } finally {
      stream.destroy()
    }
  }

  async *#read(
    part: string,
    handlers: XmlHandlers,
    options: { readonly limit: number; onRead?(bytes: number): void },
  ): AsyncGenerator<void> {
    const stream = await this.#streamOf(part)
    yield* readXml({ name: `${this.#source.name}, ${part}`, stream, ...options }, handlers)
  }

  async #streamOf(part: string): Promise<Readable> {
    const entry = this.#entries.get(part.toLowerCase())
    if (entry === undefined)
      throw new ValidationError(`${this.#source.name} is no workbook: it has no ${part}`, 'unreadable_file')
    try {
      return await this.#zip.openReadStreamPromise(entry)
    } catch (error) {
      throw asArchiveError(error, this.#source)
    }
  }

  close(): void {
    this.#zip.close()
  }
}

async function checkKind(source: FileSource): Promise<void> {
  await sizeOfFile(source)
  try {
    const file = await openFile(source.path)
    try {
      const start = Buffer.alloc(4)
      await file.read(start, 0, 4, 0)
      if (start.toString('hex') !== COMPOUND_FILE) return
    } finally {
      await file.close()
    }
  } catch (error) {
    throw asSourceError(error, source.name)
  }
  throw new ValidationError(
    `${source.name} is an encrypted workbook, or one of before 2007; save it as .xlsx without a password`,
    'unreadable_file',
  )
}

function asArchiveError(error: unknown, source: FileSource): unknown {
  const known = asSourceError(error, source.name)
  if (known instanceof ServiceError) return known
  return new ValidationError(
    `${source.name} is no XLSX file: ${error instanceof Error ? error.message : 'it cannot be opened'}`,
    'unreadable_file',
  )
}
