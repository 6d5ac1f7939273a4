import { promisify } from 'node:util'
import { gunzip, inflate, inflateRaw } from 'node:zlib'
import { BODY_LIMIT, NetworkFault, TOO_LARGE } from './network-fault.ts'

type Decoder = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: inflateEither,
}

const inflateZlib: Decoder = promisify(inflate)
const inflateBare: Decoder = promisify(inflateRaw)

/**
 * What the transport can decode, as `accept-encoding` says it. Not Brotli nor zstd: it is the body, however small, that says
 * how much memory its decoder takes, 16 MiB and more.
 */
export const ACCEPT_ENCODING = 'gzip, deflate'

/** More encodings over one another than this are an attack, not an answer. */
const MAX_LAYERS = 3

/** What is larger once decoded asks for room first: how large it will be nobody knows before. */
const SMALL = 256 * 1024

/**
 * Takes a body out of its content encodings (RFC 9110, section 8.4). Decoding stops as soon as more than 10 MiB come out
 * of a layer; `makeRoom` is waited for before more than 256 KiB do. Throws NetworkFault.
 */
export async function decodeBody(
  body: Buffer,
  contentEncoding: string,
  makeRoom: () => Promise<void>,
): Promise<Buffer> {
  const layers = contentEncoding
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity')
  if (layers.length > MAX_LAYERS) throw new NetworkFault('too many content encodings')
  let bytes = body
  for (const layer of layers.toReversed()) {
    const decode = Object.hasOwn(DECODERS, layer) ? DECODERS[layer] : undefined
    if (!decode) throw new NetworkFault('unknown content encoding')
    bytes = await decodeLayer(decode, bytes, makeRoom)
  }
  return bytes
}

async function decodeLayer(
  decode: Decoder,
  bytes: Uint8Array,
  makeRoom: () => Promise<void>,
): Promise<Buffer> {
  try {
    try {
      return await decode(bytes, { maxOutputLength: SMALL })
    } catch (error) {
      if (!isTooLarge(error)) throw error
      await makeRoom()
      return await decode(bytes, { maxOutputLength: BODY_LIMIT })
    }
  } catch (error) {
    throw new NetworkFault(isTooLarge(error) ? TOO_LARGE : 'the body cannot be decompressed')
  }
}

function isTooLarge(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
}

/** `deflate` means the zlib format, and servers that send bare deflate data under that name have to be lived with. */
async function inflateEither(bytes: Uint8Array, options: { maxOutputLength: number }): Promise<Buffer> {
  const isZlib = ((bytes[0] ?? 0) & 0x0f) === 8
  return isZlib ? inflateZlib(bytes, options) : inflateBare(bytes, options)
}
