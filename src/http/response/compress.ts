import { pipeline, type Readable, type Transform } from 'node:stream'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { Encoding } from './negotiate.ts'

/** Below this many bytes an answer fits into one packet anyway. */
export const COMPRESSED_FROM = 1024

/** Quick enough to be worth it for answers that are made once: a page of 50 records takes a fraction of a millisecond. */
const GZIP = { level: 5 }
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

const TEXTUAL =
  /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|x-ndjson|javascript|xml)\b|image\/svg\+xml)/

/** Whether answers of a content type get smaller by it. */
export function isCompressible(contentType: unknown): boolean {
  return typeof contentType === 'string' && TEXTUAL.test(contentType)
}

/** Hands on the bytes in an encoding; the work is done in another thread. */
export function compress(
  bytes: Uint8Array | string,
  encoding: Encoding,
  done: (error: Error | null, compressed: Buffer) => void,
): void {
  if (encoding === 'gzip') gzip(bytes, GZIP, done)
  else brotliCompress(bytes, BROTLI, done)
}

/** A stream in an encoding. Either ends with the other, at a fault too. */
export function compressStream(source: Readable, encoding: Encoding): Transform {
  const encoder = encoding === 'gzip' ? createGzip(GZIP) : createBrotliCompress(BROTLI)
  // Whoever reads the encoder hears of a fault.
  pipeline(source, encoder, () => undefined)
  return encoder
}
