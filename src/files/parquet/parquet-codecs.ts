import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Compressors } from 'hyparquet/src/types.js'
import { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors'

/** The least number of literal bytes at the end of an LZ4 block (LZ4 block format, end of block conditions). */
const LZ4_LITERALS = 5

/**
 * Decompresses pages. Each function returns at most as many bytes as asked for, or throws. SNAPPY is missing because
 * hyparquet has it.
 */
export const COMPRESSORS: Compressors = {
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  LZ4: (input, length) => wholeLz4(input, decompressLz4(input, length)),
  LZ4_RAW: (input, length) => wholeLz4(input, decompressLz4Raw(input, length)),
}

/** Returns the output. Throws if the input ended before the output was full, which the library does not detect. */
function wholeLz4(input: Uint8Array, output: Uint8Array): Uint8Array {
  const literals = Math.min(LZ4_LITERALS, output.length)
  const [ending, expected] = [
    output.subarray(output.length - literals),
    input.subarray(input.length - literals),
  ]
  if (Buffer.compare(ending, expected) !== 0) throw new Error('an LZ4 block is shorter than its page')
  return output
}
