import { join } from 'node:path'
import staticFiles from '@fastify/static'
import type { FastifyError, FastifyInstance } from 'fastify'
import { SheetError } from '../../errors/service-error.ts'

/** The addresses at which the viewer shows something; it finds out by itself what. */
const PAGES = ['/', '/sql', '/runs', '/runs/:id', '/derivations', '/contract']

/**
 * The viewer: its page, and the files that belong to it, whose names change with what is in them. `directory` is where the
 * build put them.
 */
export function pagesRoutes(app: FastifyInstance, directory: string): void {
  // What is not served is none of anybody's business; thrown on, this gets its envelope.
  app.setErrorHandler((error: FastifyError) => {
    const { statusCode = 500 } = error
    throw statusCode >= 400 && statusCode < 500 ? new SheetError('no such file; the viewer is at /') : error
  })
  const assets = join(directory, 'assets')
  void app.register(staticFiles, {
    root: assets,
    prefix: '/assets/',
    index: false,
    cacheControl: false,
    // Asked of every file that is sent, the page too.
    setHeaders: (reply, path) => {
      if (path.startsWith(assets)) reply.header('cache-control', 'private, max-age=31536000, immutable')
    },
  })
  app.get('/icon.svg', (_request, reply) => reply.sendFile('icon.svg', directory, { cacheControl: false }))
  for (const url of PAGES) {
    app.get(url, (_request, reply) =>
      reply
        .header('content-security-policy', PAGE_POLICY)
        .sendFile('index.html', directory, { cacheControl: false }),
    )
  }
}

/** Nothing from anywhere else, and no scripts but files. Styles may be inline: menus and the SQL editor set them. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
