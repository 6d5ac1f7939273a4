import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
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

interface Pages {
  /** The directory of the build. */
  readonly directory: string
  /** Other hosts whose images the viewer shows: `host`, `host:port`, `*.host`. */
  readonly imageHosts: readonly string[]
}

/** The names of the build's files: no folder, no dot at the start, nothing that is encoded in a URL. */
const FILE_NAME = /^\w[\w.-]*$/

const noSuchFile = (): SheetError => new SheetError('no such file; the viewer is at /', 'unknown_path')

/** Serves the viewer: its page, and its files, whose names contain a hash of their contents. */
export function pagesRoutes(app: FastifyInstance, { directory, imageHosts }: Pages): void {
  const policy = pagePolicy(imageHosts)
  app.get<{ Params: { name: string } }>('/assets/:name', async ({ raw, params }, reply) => {
    if (!FILE_NAME.test(params.name)) throw noSuchFile()
    // Loaded with the first page: to start needs no types of files.
    const { default: send } = await import('@fastify/send')
    const file = await send(raw, params.name, { root: join(directory, 'assets'), cacheControl: false })
    if (file.type !== 'file') throw noSuchFile()
    return reply
      .code(file.statusCode)
      .headers(file.headers)
      .header('cache-control', 'private, max-age=31536000, immutable')
      .send(file.stream)
  })
  app.get('/icon.svg', async (_request, reply) =>
    reply.header('content-type', 'image/svg+xml').send(await read(join(directory, 'icon.svg'))),
  )
  app.get('/verify', async (_request, reply) => {
    const page = await read(join(directory, 'verify.html'))
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', ownScriptPolicy(page))
      .send(page)
  })
  for (const url of PAGES) {
    app.get(url, async (_request, reply) =>
      reply
        .header('content-type', 'text/html; charset=utf-8')
        .header('content-security-policy', policy)
        .send(withImageHosts(await read(join(directory, 'index.html')), imageHosts)),
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

/** The scripts of the page that verifies proofs, which are in it. */
const OWN_SCRIPTS = /<script type="module"[^>]*>([\s\S]*?)<\/script>/g

/** Allows a page its own scripts and styles, and nothing else: it can neither load nor send anything. */
function ownScriptPolicy(page: Buffer): string {
  const hashes = [...page.toString().matchAll(OWN_SCRIPTS)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  return `default-src 'none'; script-src ${hashes.join(' ')}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

/** Tells the page whose images its policy allows, in a tag that the viewer reads. */
function withImageHosts(page: Buffer, hosts: readonly string[]): Buffer {
  if (hosts.length === 0) return page
  return Buffer.from(
    page.toString().replace('</head>', `<meta name="image-hosts" content="${hosts.join(' ')}" />\n</head>`),
  )
}

/** Returns the sources of a host: all of its ports, or the one that it names. */
function sourcesOf(host: string): string {
  const place = /:[0-9]+$/.test(host) ? host : `${host}:*`
  return `https://${place} http://${place}`
}

/**
 * Forbids other sources but images of these hosts, and inline scripts. Styles may be inline: menus and the SQL editor set them.
 */
const pagePolicy = (imageHosts: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    ["img-src 'self' data:", ...imageHosts.map(sourcesOf)].join(' '),
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
