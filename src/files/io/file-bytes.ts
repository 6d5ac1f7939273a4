import { createReadStream, type ReadStream } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ServiceError, ValidationError } from '../../errors/service-error.ts'
import type { FileSource } from './raw-records.ts'
import { asSourceError, sizeOfFile } from './source-error.ts'
import { isZstd, zstdFrames } from './zstd-frames.ts'

/** The number of bytes per read. */
const CHUNK = 256 << 10

/** The most bytes of a decompressed file. */
export const MAX_UNPACKED = 16 * 1024 ** 3

/** The bytes of a file, decompressed if necessary. */
export interface FileBytes {
  /**
   * The bytes from the start, for each iteration. Throws ValidationError if decompression fails or exceeds the limit.
   */
  readonly chunks: AsyncIterable<Buffer>
  /** Returns the part that the last iteration has read, from 0 to 1. */
  progress(): number
}

/**
 * Opens a file for reading. Its first bytes tell whether it is compressed with gzip or Zstandard; `most` limits the
 * decompressed bytes. Throws like {@link sizeOfFile}.
 */
export async function openBytes(source: FileSource, most = MAX_UNPACKED): Promise<FileBytes> {
  const size = await sizeOfFile(source)
  const packing = await packingOf(source)
  let seen = 0
  async function* chunks(): AsyncGenerator<Buffer> {
    seen = 0
    let unpacked = 0
    try {
      for await (const [chunk, position] of chunksOf(source, size, packing)) {
        seen = position
        unpacked += chunk.length
        if (packing !== null && unpacked > most) {
          throw new ValidationError(
            `${source.name}: it is larger than ${Math.floor(most / 2 ** 20)} MiB once it is decompressed`,
            'unreadable_file',
          )
        }
        yield chunk
      }
    } catch (error) {
      throw asReadError(error, source.name, packing)
    }
  }
  return {
    chunks: { [Symbol.asyncIterator]: chunks },
    progress: () => (size === 0 ? 1 : Math.min(1, seen / size)),
  }
}

type Packing = 'gzip' | 'zstd'

/** Returns the compression of a file, null for none. Throws as {@link sizeOfFile} does. */
async function packingOf(source: FileSource): Promise<Packing | null> {
  return withFile(source, async (file) => {
    const start = Buffer.alloc(4)
    const { bytesRead } = await file.read(start, 0, 4, 0)
    if (bytesRead >= 2 && start[0] === 0x1f && start[1] === 0x8b) return 'gzip'
    return isZstd(start.subarray(0, bytesRead)) ? 'zstd' : null
  })
}

/** Yields the chunks of a file, each with the offset after it. */
async function* chunksOf(
  source: FileSource,
  size: number,
  packing: Packing | null,
): AsyncGenerator<readonly [chunk: Buffer, position: number]> {
  if (packing !== 'zstd') {
    yield* partOf(
      source,
      { start: 0, end: size },
      packing === null ? null : createGunzip({ chunkSize: CHUNK }),
    )
    return
  }
  const file = await open(source.path)
  try {
    for await (const frame of zstdFrames(file, size)) {
      yield* partOf(source, frame, createZstdDecompress({ chunkSize: CHUNK }))
    }
  } finally {
    await file.close()
  }
}

async function* partOf(
  { path }: FileSource,
  { start, end }: { readonly start: number; readonly end: number },
  unpack: Transform | null,
): AsyncGenerator<readonly [chunk: Buffer, position: number]> {
  // An uncompressed file includes what is appended meanwhile.
  const range = unpack === null ? { start } : { start, end: Math.max(start, end - 1) }
  const file: ReadStream = createReadStream(path, { ...range, highWaterMark: CHUNK })
  const stream: Readable = unpack === null ? file : pipeline(file, unpack, () => undefined)
  try {
    for await (const chunk of stream) yield [chunk as Buffer, start + file.bytesRead]
  } finally {
    stream.destroy()
    file.destroy()
  }
}

function asReadError(error: unknown, name: string, packing: Packing | null): unknown {
  const known = asSourceError(error, name)
  if (known instanceof ServiceError || packing === null) return known
  const fault = error instanceof Error ? error.message : String(error)
  return new ValidationError(`${name}: it cannot be decompressed as ${packing}: ${fault}`, 'unreadable_file')
}

async function withFile<T>({ path, name }: FileSource, read: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    const file = await open(path)
    try {
      return await read(file)
    } finally {
      await file.close()
    }
  } catch (error) {
    throw asSourceError(error, name)
  }
}
