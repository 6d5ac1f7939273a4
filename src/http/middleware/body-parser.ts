import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ValidationError } from '../../errors/service-error.ts'
import { parseJsonBodyInTurns } from '../../sheet/json-body.ts'

/** Most items and members of a body that is parsed on the main thread: more than any list of ids or parameters may have. */
export const BODY_VALUES = 150_000

/**
 * Makes an app parse JSON bodies, and nothing else (D36). An empty body is `{}` whatever its type; another type, charset or encoding is
 * 415. Invalid JSON, or more than `mostValues` items and members, is a ValidationError.
 */
export function acceptJsonBodies(app: FastifyInstance, mostValues: number = BODY_VALUES): void {
  acceptBodies(app, (body) => parseJson(body, mostValues))
}

/** Does the same for routes that pass the body on as bytes; an empty body is `{}` here too. */
export function acceptRawBodies(app: FastifyInstance): void {
  acceptBodies(app, async (body) => body)
}

/**
 * Removes the content type of a request without a body: Fastify checks the type first and would refuse a wrong one (D36: 415 only if there
 * is a body). For `onRequest`.
 */
export function ignoreTypeOfNoBody(request: FastifyRequest): void {
  const { headers } = request.raw
  const length = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (length === undefined || length === '0')) {
    delete headers['content-type']
  }
}

function acceptBodies(app: FastifyInstance, parse: (body: Buffer) => Promise<unknown>): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return {}
      const refusal = refuseEncoding(request)
      if (refusal !== undefined) throw refusal
      return parse(body)
    },
  )
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, {})
    const type = request.headers['content-type']
    const seen =
      type === undefined ? 'the body has no content type' : `the content type is ${type.slice(0, 100)}`
    done(new ValidationError(`${seen}; send application/json`, 'unsupported_media_type'))
  })
}

function refuseEncoding(request: FastifyRequest): ValidationError | undefined {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new ValidationError(
      `the content encoding is ${encoding.slice(0, 100)}; send the body as it is`,
      'unsupported_media_type',
    )
  }
  const transfer = request.headers['transfer-encoding']
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    return new ValidationError(
      `the transfer encoding is ${transfer.slice(0, 100)}; send the body as it is`,
      'unsupported_media_type',
    )
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(request.headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    return new ValidationError(
      `the charset is ${charset.slice(0, 100)}; JSON is sent in UTF-8`,
      'unsupported_media_type',
    )
  }
  return undefined
}

async function parseJson(body: Buffer, mostValues: number): Promise<unknown> {
  const value = await parseJsonBodyInTurns(body, mostValues)
  // Checked here, since the shape check receives a missing body as null.
  if (value === null) throw new ValidationError('the body is null; a JSON object is expected', 'invalid_json')
  return value
}
