import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { NetworkFault, TOO_LARGE } from './network-fault.ts'

type Decoder = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: inflateEither,
}

const inflateZlib: Decoder = promisify(inflate)
const inflateBare: Decoder = promisify(inflateRaw)

/** What the transport can decode, as `accept-encoding` says it. */
export const ACCEPT_ENCODING = 'gzip, deflate, br'

/** More encodings over one another than this are an attack, not an answer. */
const MAX_LAYERS = 3

/**
 * Takes a body out of its content encodings (RFC 9110, section 8.4). Decoding stops as soon as more than `limit` bytes
 * come out of a layer. Throws NetworkFault.
 */
export async function decodeBody(body: Buffer, contentEncoding: string, limit: number): Promise<Buffer> {
  const layers = contentEncoding
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity')
  if (layers.length > MAX_LAYERS) throw new NetworkFault('too many content encodings')
  let bytes = body
  for (const layer of layers.toReversed()) {
    const decode = Object.hasOwn(DECODERS, layer) ? DECODERS[layer] : undefined
    if (!decode) throw new NetworkFault('unknown content encoding')
    bytes = await decode(bytes, { maxOutputLength: limit }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ERR_BUFFER_TOO_LARGE'
        ? new NetworkFault(TOO_LARGE)
        : new NetworkFault('the body cannot be decompressed')
    })
  }
  return bytes
}

/** `deflate` means the zlib format, and servers that send bare deflate data under that name have to be lived with. */
async function inflateEither(bytes: Uint8Array, options: { maxOutputLength: number }): Promise<Buffer> {
  const isZlib = ((bytes[0] ?? 0) & 0x0f) === 8
  return isZlib ? inflateZlib(bytes, options) : inflateBare(bytes, options)
}
