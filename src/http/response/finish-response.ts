import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { COMPRESSED_FROM, compress, compressStream, isCompressible } from './compress.ts'
import { contentTag, seenTag, tagOfEncoding, TAGGED_UP_TO } from './entity-tag.ts'
import { preferredEncoding } from './negotiate.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Whether the response contains a secret: it is then neither compressed, since its length would reveal it (BREACH), nor tagged. */
    holdsSecret: boolean
  }
}

type Payload = string | Uint8Array | Readable

/**
 * Finishes every response, as `onSend` hook: reads get an `ETag` and become a `304` for clients that have them, and large responses are
 * compressed for clients that accept it (RFC 9110). Event streams bypass it.
 */
export const finishResponse: onSendHookHandler = (request, reply, payload, done) => {
  if (reply.statusCode !== 200 || !isPayload(payload) || reply.holdsSecret) {
    done(null, payload)
    return
  }
  const { method } = request.raw
  if ((method === 'GET' || method === 'HEAD') && tagRead(request, reply, payload)) {
    done(null, nothing(payload))
    return
  }
  if (!mayCompress(reply, payload)) {
    done(null, whole(method, payload))
    return
  }
  addVary(reply, 'Accept-Encoding')
  const accepted = request.raw.headers['accept-encoding']
  const encoding = accepted === undefined ? null : preferredEncoding(accepted)
  if (encoding === null) {
    done(null, whole(method, payload))
    return
  }
  reply.header('content-encoding', encoding)
  reply.removeHeader('content-length')
  reply.removeHeader('accept-ranges')
  const etag = reply.getHeader('etag')
  if (typeof etag === 'string') reply.header('etag', tagOfEncoding(etag, encoding))
  if (payload instanceof Readable) {
    done(null, method === 'HEAD' ? nothing(payload) : compressStream(payload, encoding))
    return
  }
  compress(payload, encoding, done)
}

function isPayload(payload: unknown): payload is Payload {
  return typeof payload === 'string' || payload instanceof Uint8Array || payload instanceof Readable
}

/** Tags a read. Returns whether the client has the response already, which then is a `304`. */
function tagRead(request: FastifyRequest, reply: FastifyReply, payload: Payload): boolean {
  let etag = reply.getHeader('etag')
  if (etag === undefined) {
    if (payload instanceof Readable || payload.length > TAGGED_UP_TO) return false
    etag = `"${contentTag(payload)}"`
    reply.header('etag', etag)
  }
  const asked = request.raw.headers['if-none-match']
  const seen = asked === undefined ? null : seenTag(asked, String(etag))
  if (seen === null) return false
  if (mayCompress(reply, payload)) addVary(reply, 'Accept-Encoding')
  reply.code(304).header('etag', seen)
  reply.removeHeader('content-type')
  reply.removeHeader('content-length')
  return true
}

function mayCompress(reply: FastifyReply, payload: Payload): boolean {
  const large = payload instanceof Readable || payload.length >= COMPRESSED_FROM
  return large && !reply.hasHeader('content-encoding') && isCompressible(reply.getHeader('content-type'))
}

/** Bytes up to which a response is sent as text. */
const TEXT_UP_TO = 8192

/**
 * Returns a response unchanged; empties a stream for `HEAD`. A short text is sent together with the headers, where bytes would be a write
 * of their own, which costs more than decoding them.
 */
function whole(method: string | undefined, payload: Payload): Payload {
  if (payload instanceof Readable) return method === 'HEAD' ? nothing(payload) : payload
  if (typeof payload === 'string' || payload.byteLength > TEXT_UP_TO) return payload
  return isUtf8(payload)
    ? Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString()
    : payload
}

/** Returns an empty stream, so that no length is added, and discards the payload. */
function nothing(payload: Payload): Readable {
  if (payload instanceof Readable) payload.destroy()
  return Readable.from([])
}

/** Adds a name to `Vary`. */
export function addVary(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? name : `${String(before)}, ${name}`)
}
