import type { FileHandle } from 'node:fs/promises'

/** A frame of a Zstandard file: the bytes from `start` up to but excluding `end`. */
export interface ZstdFrame {
  readonly start: number
  readonly end: number
}

const MAGIC = 0xfd2fb528
const SKIPPABLE = 0x184d2a50

/** The number of bytes of a frame header that its size depends on, and of a block header. */
const FRAME_HEADER = 18
const BLOCK_HEADER = 3

/** Whether a file begins like Zstandard: with a frame or a skippable one. */
export function isZstd(start: Buffer): boolean {
  if (start.length < 4) return false
  const magic = start.readUInt32LE(0)
  return magic === MAGIC || (magic & 0xfffffff0) >>> 0 === SKIPPABLE
}

/**
 * Yields the frames of a Zstandard file (RFC 8878), without skippable ones: zlib stops after the first, and files
 * that were compressed in parts or concatenated have many. Throws for a file that ends early, or has other bytes
 * between its frames.
 */
export async function* zstdFrames(file: FileHandle, size: number): AsyncGenerator<ZstdFrame> {
  let start = 0
  while (start < size) {
    const header = await bytesAt(file, start, FRAME_HEADER)
    if (!isZstd(header)) throw new Error('something follows the compressed data')
    const skipped = header.readUInt32LE(0) !== MAGIC
    const end = skipped ? start + 8 + uint32(header, 4) : await endOfFrame(file, start, header)
    if (end > size) throw cutOff()
    if (!skipped) yield { start, end }
    start = end
  }
}

async function endOfFrame(file: FileHandle, start: number, header: Buffer): Promise<number> {
  const descriptor = header[4]
  if (descriptor === undefined) throw cutOff()
  const single = (descriptor & 0x20) !== 0
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0
  const contentSize = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  let at = start + 5 + (single ? 0 : 1) + dictionary + contentSize
  for (;;) {
    const block = await bytesAt(file, at, BLOCK_HEADER)
    if (block.length < BLOCK_HEADER) throw cutOff()
    const bits = block.readUIntLE(0, BLOCK_HEADER)
    // A block that repeats one byte contains only this byte.
    at += BLOCK_HEADER + (((bits >> 1) & 3) === 1 ? 1 : bits >> 3)
    if ((bits & 1) === 1) break
  }
  return at + ((descriptor & 4) === 0 ? 0 : 4)
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, position)
  return buffer.subarray(0, bytesRead)
}

function uint32(bytes: Buffer, at: number): number {
  if (bytes.length < at + 4) throw cutOff()
  return bytes.readUInt32LE(at)
}

function cutOff(): Error {
  return new Error('unexpected end of file')
}
