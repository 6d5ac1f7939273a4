import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress, type ZstdOptions } from 'node:zlib'
import type { RawRecord } from '../../files/io/raw-records.ts'

/** The place of a record in its file. */
export type RecordPlace = Pick<RawRecord, 'at' | 'line'>

/** Records of a file that were checked: the body of their upsert. */
export interface CheckedBatch {
  readonly body: Uint8Array
  readonly count: number
  places(): Promise<readonly RecordPlace[]>
}

/** A part of the file, in bytes. */
interface Span {
  readonly start: number
  readonly length: number
}

interface StoredBatch {
  readonly body: Span
  readonly places: Span
  readonly count: number
}

/**
 * The batches of a file as they were checked, compressed in a temporary file that only this user can read: to write them, the
 * imported file need not be read and converted again, and cannot have changed.
 */
export class CheckedBatches {
  readonly #batches: StoredBatch[] = []
  #directory: string | null = null
  #file: FileHandle | null = null
  #size = 0
  #isComplete = true

  /** Whether all batches were kept; false when the temporary file could not be written. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Keeps a batch, as far as there is room for it. */
  async add(body: Uint8Array, places: readonly RecordPlace[]): Promise<void> {
    if (!this.#isComplete) return
    try {
      const file = (this.#file ??= await this.#create())
      const texts = [body, Buffer.from(JSON.stringify(places.map(({ at, line }) => ({ at, line }))))]
      const spans: Span[] = []
      for (const text of texts) {
        const bytes = await compress(text, FAST)
        await file.write(bytes, 0, bytes.length, this.#size)
        spans.push({ start: this.#size, length: bytes.length })
        this.#size += bytes.length
      }
      const [ofBody, ofPlaces] = spans as [Span, Span]
      this.#batches.push({ body: ofBody, places: ofPlaces, count: places.length })
    } catch {
      // The temporary directory is full or missing: the imported file is read again.
      this.#isComplete = false
      await this.remove()
    }
  }

  /** Yields the batches in their order. */
  async *all(): AsyncGenerator<CheckedBatch> {
    for (const { body, places, count } of this.#batches) {
      yield {
        body: await this.#read(body),
        count,
        places: async () => JSON.parse((await this.#read(places)).toString()) as RecordPlace[],
      }
    }
  }

  async remove(): Promise<void> {
    await this.#file?.close()
    this.#file = null
    if (this.#directory !== null) await rm(this.#directory, { recursive: true, force: true })
    this.#directory = null
  }

  async #create(): Promise<FileHandle> {
    this.#directory = await mkdtemp(join(tmpdir(), 'colophon-import-'))
    return open(join(this.#directory, 'batches'), 'wx+', 0o600)
  }

  async #read({ start, length }: Span): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(length)
    await this.#file?.read(bytes, 0, length, start)
    return decompress(bytes)
  }
}

const compress: (bytes: Uint8Array, options: ZstdOptions) => Promise<Buffer> = promisify(zstdCompress)
const decompress: (bytes: Uint8Array) => Promise<Buffer> = promisify(zstdDecompress)

const FAST: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
