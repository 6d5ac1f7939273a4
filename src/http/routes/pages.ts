import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import type { FastifyError, FastifyInstance } from 'fastify'
import { SheetError } from '../../errors/service-error.ts'

/** The addresses of the viewer, which has a page for each. */
const PAGES = [
  '/',
  '/sql',
  '/runs',
  '/runs/:id',
  '/proposals',
  '/proposals/:id',
  '/derivations',
  '/contract',
  '/deleted',
]

/** Serves the viewer: its page, and its files, whose names contain a hash of their contents. `directory` has the build. */
export function pagesRoutes(app: FastifyInstance, directory: string): void {
  // Errors are not logged here; thrown on, this one gets its envelope.
  app.setErrorHandler((error: FastifyError) => {
    const { statusCode = 500 } = error
    throw statusCode >= 400 && statusCode < 500
      ? new SheetError('no such file; the viewer is at /', 'unknown_path')
      : error
  })
  void app.register(staticFiles, {
    root: join(directory, 'assets'),
    prefix: '/assets/',
    index: false,
    cacheControl: false,
    setHeaders: (reply) => {
      reply.header('cache-control', 'private, max-age=31536000, immutable')
    },
  })
  app.get('/icon.svg', async (_request, reply) =>
    reply.header('content-type', 'image/svg+xml').send(await read(join(directory, 'icon.svg'))),
  )
  for (const url of PAGES) {
    app.get(url, async (_request, reply) =>
      reply
        .header('content-type', 'text/html; charset=utf-8')
        .header('content-security-policy', PAGE_POLICY)
        .send(await read(join(directory, 'index.html'))),
    )
  }
}

/**
 * Reads a small file whose name does not change with its contents, for a tag from its bytes. Packages give every file the same time, so
 * that by size and time the page of the next version could be taken for this one. Throws SheetError.
 */
async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch {
    throw new SheetError('the viewer is missing; it may be being built', 'unknown_path')
  }
}

/** Forbids other sources, and inline scripts. Styles may be inline: menus and the SQL editor set them. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
