import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ValidationError } from '../../errors/service-error.ts'

/** The most bytes of an uploaded file. */
export const FILE_LIMIT = 256 << 20

/** Makes an app pass bodies of any type on as streams that end with a ValidationError beyond {@link FILE_LIMIT}. */
export function acceptFileBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, payload, done) => {
    if (Number(request.headers['content-length'] ?? 0) > FILE_LIMIT) return done(tooLarge())
    done(null, Readable.from(limited(payload), { objectMode: false }))
  })
}

async function* limited(body: Readable): AsyncGenerator<Buffer> {
  let bytes = 0
  // Not destroyed, so that the client receives the error.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > FILE_LIMIT) throw tooLarge()
    yield chunk
  }
}

function tooLarge(): ValidationError {
  return new ValidationError(
    `the file is larger than ${FILE_LIMIT >> 20} MiB; import it with \`colophon import\`, or in parts`,
    'body_too_large',
  )
}
