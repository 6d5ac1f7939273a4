import { hash } from 'node:crypto'
import { NoQuery } from '../../wire/definition/contract.ts'
import { docsPage } from '../docs/docs-page.ts'
import { DOCS_STYLE } from '../docs/docs-style.ts'
import type { DocumentShape } from '../docs/document-shape.ts'
import type { OpenApiFile } from '../openapi/openapi-file.ts'
import type { Api, RouteContext } from './route-context.ts'

/** Allows the one style sheet, which is in the page, and nothing else: no script, and no other source. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', DOCS_STYLE, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface Rendered {
  readonly file: OpenApiFile
  readonly origin: string
  readonly page: string
}

/** `GET /docs`: the documentation of the interface for people, from its OpenAPI document. */
export function docsRoutes(app: Api, { openApi, read }: RouteContext): void {
  let last: Rendered | null = null
  app.get('/docs', { ...read, schema: { querystring: NoQuery } }, async ({ host, protocol }, reply) => {
    const file = await openApi()
    const origin = `${protocol}://${host}`
    if (last?.file !== file || last.origin !== origin) {
      last = { file, origin, page: docsPage(file.document as unknown as DocumentShape, origin) }
    }
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', POLICY)
      .send(last.page)
  })
}
