import { promisify } from 'node:util'
import { gunzip, inflate, inflateRaw } from 'node:zlib'
import { isZlib } from './error-body.ts'
import { BODY_LIMIT, NetworkFault, TOO_LARGE } from '../call/network-fault.ts'

type Decoder = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: inflateEither,
}

const inflateZlib: Decoder = promisify(inflate)
const inflateBare: Decoder = promisify(inflateRaw)

/**
 * The encodings that the transport can decode, as `accept-encoding`. Without Brotli and zstd: there the body, however small, decides how
 * much memory its decoder takes, 16 MiB and more.
 */
export const ACCEPT_ENCODING = 'gzip, deflate'

/** More nested encodings than this are an attack. */
const MAX_LAYERS = 3

/**
 * Sizes to which a layer may grow, one after the other: the final size is unknown, and reserving the largest one would delay all other
 * calls.
 */
const STEPS = [256 * 1024, 1024 * 1024, 4 * 1024 * 1024, BODY_LIMIT]

/** Waits for memory for this many bytes in all. */
type MakeRoom = (bytes: number) => Promise<void>

/**
 * Decodes the content encodings of a body (RFC 9110, section 8.4). It stops as soon as a layer exceeds 10 MiB. It waits for `makeRoom`
 * before a layer exceeds 256 KiB, and asks for at most about four times the result. Throws NetworkFault.
 */
export async function decodeBody(body: Buffer, contentEncoding: string, makeRoom: MakeRoom): Promise<Buffer> {
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

async function decodeLayer(decode: Decoder, bytes: Uint8Array, makeRoom: MakeRoom): Promise<Buffer> {
  for (const [step, maxOutputLength] of STEPS.entries()) {
    if (step > 0) await makeRoom(bytes.length + maxOutputLength)
    try {
      return await decode(bytes, { maxOutputLength })
    } catch (error) {
      if (!isTooLarge(error)) throw new NetworkFault('the body cannot be decompressed')
    }
  }
  throw new NetworkFault(TOO_LARGE)
}

function isTooLarge(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
}

async function inflateEither(bytes: Uint8Array, options: { maxOutputLength: number }): Promise<Buffer> {
  return isZlib(bytes) ? inflateZlib(bytes, options) : inflateBare(bytes, options)
}
