import { createGunzip, createInflate, createInflateRaw, constants } from 'node:zlib'
import type { Gunzip, Inflate, InflateRaw } from 'node:zlib'
import type { Failure } from '../../../errors/failure.ts'
import type { SendFailure } from '../call/transport.ts'
import { GrowingBuffer } from './growing-buffer.ts'
import type { SecretGuard } from '../guard/secret-guard.ts'

/** Bytes of an error response that are read and searched for secrets, so that a secret is found that the end of the excerpt cuts in two. */
export const ERROR_BODY_BYTES = 16 * 1024

/** Bytes of an error response that are stored with the failure. */
const EXCERPT_BYTES = 2048

/** Replaces an excerpt that would reveal a secret (D23). */
const WITHHELD = '[withheld: the response repeats a secret of the request]'

/** Characters that neither a terminal nor every store takes, but for tabs and line breaks. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g

/** Returns the start of an error response as text, from up to 16 KiB; undefined if it has no readable text. `body` may be cut anywhere. */
export async function errorText(
  body: Buffer,
  contentEncoding: string | undefined,
): Promise<string | undefined> {
  const plain = await decodedStart(body.subarray(0, ERROR_BODY_BYTES), contentEncoding?.trim().toLowerCase())
  // Half a character at the cut is dropped.
  const text = new TextDecoder().decode(plain, { stream: true }).replaceAll(CONTROLS, '\u{fffd}').trim()
  return text === '' ? undefined : text
}

/** Returns the first 2 KB of an error response, for people to read, unless they are near a secret of the request. */
export function excerptOf(text: string, guard: SecretGuard): string {
  if (guard.isIn(text)) return WITHHELD
  const shown = text.replaceAll(CONTROLS, '\u{fffd}')
  const bytes = Buffer.from(shown, 'utf8')
  if (bytes.length <= EXCERPT_BYTES) return shown
  return `${new TextDecoder().decode(bytes.subarray(0, EXCERPT_BYTES), { stream: true })}…`
}

/** Returns a failure with the start of its response, unless that reveals a secret. */
export function guardedFailure({ received, ...failure }: SendFailure, guard: SecretGuard): Failure {
  return received === undefined
    ? failure
    : ({ ...failure, responseBody: excerptOf(received, guard) } as Failure)
}

/** Decodes the start of an encoded body as far as possible; empty for an unknown encoding. */
function decodedStart(body: Buffer, encoding = 'identity'): Promise<Buffer> | Buffer {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: ERROR_BODY_BYTES }
  switch (encoding) {
    case '':
    case 'identity':
      return body
    case 'gzip':
    case 'x-gzip':
      return startOf(createGunzip(options), body)
    case 'deflate':
      return startOf(isZlib(body) ? createInflate(options) : createInflateRaw(options), body)
    default:
      return Buffer.alloc(0)
  }
}

/** Whether a body has the zlib format, which `deflate` means; some servers send raw deflate data under that name. */
export function isZlib(body: Uint8Array): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8
}

async function startOf(decoder: Gunzip | Inflate | InflateRaw, body: Buffer): Promise<Buffer> {
  const start = new GrowingBuffer()
  decoder.end(body)
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      start.add(chunk.subarray(0, ERROR_BODY_BYTES - start.length))
      // Stops here, since a few bytes can decode to many.
      if (start.length >= ERROR_BODY_BYTES) break
    }
  } catch {
    // The text before the error is returned.
  }
  return start.bytes()
}
