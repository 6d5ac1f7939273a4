import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

/** A response as received. */
export interface SeenResponse {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** Null if it was not recorded. */
  readonly body: Buffer | null
}

interface Response {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, unknown>>
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>
  >
  readonly components: { readonly responses: Readonly<Record<string, Response>> }
}

/** The response of errors outside the document: an unknown path, or a method that a path does not have. */
const ANY_ERROR = '#/components/responses/Error400'

/** Matches the paths of the document; pages beside it have other responses. */
const ITS_PATHS = /^\/(?:api(?:\/|$)|events$|openapi\.json$)/

/** Validates responses against an OpenAPI document: their status, content type, headers and bodies. */
export class OpenApiChecks {
  readonly #document: Document
  readonly #ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    ownProperties: true,
  })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(text: string) {
    this.#document = JSON.parse(text) as Document
    this.#ajv.addSchema(this.#document, 'openapi')
  }

  /** Throws AssertionError for a response that the document does not allow. */
  check(answer: SeenResponse): void {
    const path = pathOf(answer.url)
    if (path === null || !ITS_PATHS.test(path)) return
    const about = `${answer.method} ${path.slice(0, 100)} -> ${answer.status}`
    const [pointer, response] = this.#responseTo(answer, path, about)
    for (const name of [
      'etag',
      'link',
      'location',
      'retry-after',
      'content-disposition',
      'preference-applied',
    ]) {
      // The header of a run that ends in an error is sent with the error.
      if (answer.headers[name] === undefined || answer.status >= 400) continue
      const told = Object.keys(response.headers ?? {}).map((one) => one.toLowerCase())
      assert.ok(told.includes(name), `${about}: the document does not tell of the header ${name}`)
    }
    if (answer.method === 'HEAD') return
    if (answer.status === 304) {
      assert.equal(answer.body?.length ?? 0, 0, about)
      return
    }
    const type = String(answer.headers['content-type']).replace(/;.*/, '')
    assert.ok(
      Object.hasOwn(response.content ?? {}, type),
      `${about}: the document does not tell of the content type ${type}`,
    )
    if (answer.body === null) return
    const schema = `${pointer}/content/${escapePointer(type)}/schema`
    for (const value of valuesOf(type, decoded(answer.headers, answer.body)))
      this.#validate(schema, value, about)
  }

  #responseTo({ method, status }: SeenResponse, path: string, about: string): [pointer: string, Response] {
    const found = this.#template(path)
    // The number of its methods: an unknown operation has no responses.
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = found === undefined ? undefined : this.#document.paths[found]?.[verb]
    if (found === undefined || operation === undefined) {
      assert.ok(status >= 400 && status < 500, `${about}: the document does not tell of it`)
      return this.#resolve(ANY_ERROR)
    }
    const response = operation.responses[String(status)]
    assert.ok(response !== undefined, `${about}: the document does not tell of the status`)
    return response.$ref === undefined
      ? [`#/paths/${escapePointer(found)}/${verb}/responses/${status}`, response]
      : this.#resolve(response.$ref)
  }

  #resolve(pointer: string): [pointer: string, Response] {
    const name = pointer.split('/').at(-1) ?? ''
    return [pointer, this.#document.components.responses[name] ?? assert.fail(pointer)]
  }

  #template(path: string): string | undefined {
    if (Object.hasOwn(this.#document.paths, path)) return path
    const segments = path.split('/')
    return Object.keys(this.#document.paths).find((template) => {
      const expected = template.split('/')
      return (
        expected.length === segments.length &&
        expected.every((part, index) =>
          part.startsWith('{') ? segments[index] !== '' : part === segments[index],
        )
      )
    })
  }

  #validate(pointer: string, value: unknown, about: string): void {
    let validate = this.#validators.get(pointer)
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `openapi${pointer}` })
      this.#validators.set(pointer, validate)
    }
    if (validate(value)) return
    assert.fail(
      `${about}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 500)}`,
    )
  }
}

function pathOf(url: string): string | null {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '')
  return /^\/[^?#]*/.exec(target)?.[0] ?? null
}

function escapePointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function decoded(headers: SeenResponse['headers'], body: Buffer): string {
  const encoding = headers['content-encoding']
  if (encoding === 'gzip') return gunzipSync(body).toString()
  return (encoding === 'br' ? brotliDecompressSync(body) : body).toString()
}

/** Returns the values in a body of a type: one, one on each line, or one in each complete frame. */
function valuesOf(type: string, text: string): readonly unknown[] {
  const parse = (json: string): unknown => JSON.parse(json)
  switch (type) {
    case 'text/event-stream':
      return [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, json = '']) => parse(json))
    case 'application/x-ndjson':
      return text.split('\n').slice(0, -1).map(parse)
    case 'application/json':
    case 'application/problem+json':
      return [parse(text)]
    default:
      return [text]
  }
}
