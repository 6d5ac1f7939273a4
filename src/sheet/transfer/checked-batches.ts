import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress, type ZstdOptions } from 'node:zlib'
import type { JsonObject } from '../../contract/json/json.ts'
import type { RawRecord } from '../../files/io/raw-records.ts'

/** The place of a record in its file. */
export type RecordPlace = Pick<RawRecord, 'at' | 'line'>

/** Records of a file that were checked. */
export interface CheckedBatch {
  /** The body of their upsert, from {@link upsertBody}. */
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
  /** The bytes of the body. */
  readonly bytes: number
  readonly places: Span
  readonly count: number
}

const BEFORE = '{"records":['
const AFTER = ']}'

/** Returns the body of an upsert of records. */
export function upsertBody(records: readonly JsonObject[]): Uint8Array {
  return Buffer.from(`${BEFORE}${JSON.stringify(records).slice(1, -1)}${AFTER}`)
}

/** Records and bytes of a batch that is written: fewer commits write each page of an index fewer times. */
const MOST_RECORDS = 5000
const MOST_BYTES = 4 << 20

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
        await file.appendFile(bytes)
        spans.push({ start: this.#size, length: bytes.length })
        this.#size += bytes.length
      }
      const [ofBody, ofPlaces] = spans as [Span, Span]
      const bytes = body.byteLength
      this.#batches.push({ body: ofBody, bytes, places: ofPlaces, count: places.length })
    } catch {
      // The temporary directory is full or missing: the imported file is read again.
      this.#isComplete = false
      await this.remove()
    }
  }

  /** Yields the records in their order, those of several batches together. */
  async *all(): AsyncGenerator<CheckedBatch> {
    for (const batches of groupsOf(this.#batches)) {
      const bodies: Uint8Array[] = []
      for (const { body } of batches) bodies.push(await this.#read(body))
      yield {
        body: joined(bodies),
        count: batches.reduce((sum, { count }) => sum + count, 0),
        places: async () => {
          const places: RecordPlace[] = []
          for (const batch of batches)
            places.push(...(JSON.parse((await this.#read(batch.places)).toString()) as RecordPlace[]))
          return places
        },
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

/** Yields the batches that are written together. */
function* groupsOf(batches: readonly StoredBatch[]): Generator<readonly StoredBatch[]> {
  let group: StoredBatch[] = []
  let [records, bytes] = [0, 0]
  for (const batch of batches) {
    const isFull = records + batch.count > MOST_RECORDS || bytes + batch.bytes > MOST_BYTES
    if (isFull && group.length > 0) {
      yield group
      group = []
      records = 0
      bytes = 0
    }
    group.push(batch)
    records += batch.count
    bytes += batch.bytes
  }
  if (group.length > 0) yield group
}

/** Returns one body with the records of several. */
function joined(bodies: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(), ...others] = bodies
  if (others.length === 0) return first
  const inner = bodies.flatMap((body, index) => [
    ...(index === 0 ? [] : [Buffer.from(',')]),
    body.subarray(BEFORE.length, -AFTER.length),
  ])
  return Buffer.concat([Buffer.from(BEFORE), ...inner, Buffer.from(AFTER)])
}

const compress: (bytes: Uint8Array, options: ZstdOptions) => Promise<Buffer> = promisify(zstdCompress)
const decompress: (bytes: Uint8Array) => Promise<Buffer> = promisify(zstdDecompress)

const FAST: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
