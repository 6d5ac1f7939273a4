import type { TSchema } from 'typebox'

/** Groups of operations in the OpenAPI document. */
export type OperationTag =
  'Records' | 'Cells' | 'Runs' | 'Provenance' | 'Sheet' | 'Files' | 'Proposals' | 'Events' | 'Service'

/** Request headers that operations read; `headers.ts` describes them. */
export type RequestHeader =
  'Accept' | 'If-Match' | 'If-None-Match' | 'Last-Event-ID' | 'Prefer' | 'X-Svc-Actor'

/** Response headers; `headers.ts` describes them. */
export type ResponseHeader =
  'Content-Disposition' | 'ETag' | 'Link' | 'Location' | 'Preference-Applied' | 'Retry-After' | 'Vary'

/** The description of the response with one status. */
export interface ResponseNotes {
  readonly description?: string
  readonly headers?: readonly ResponseHeader[]
  /** The schema by media type; for a stream of lines or frames, the schema of one. Without it, `schema.response` as JSON. */
  readonly content?: Readonly<Record<string, TSchema>>
}

/** The part of a route's description that its schemas do not contain; it is in the route's `config`. */
export interface Operation {
  /** Its `operationId`: camelCase, with a verb first; generated clients use it. */
  readonly id: string
  readonly tag: OperationTag
  /** A few words without a full stop. */
  readonly summary: string
  /** Markdown: details beyond the summary. */
  readonly description?: string
  /** Errors beyond those of every operation of its sort. */
  readonly errors?: readonly (404 | 409 | 412 | 503)[]
  readonly headers?: readonly RequestHeader[]
  /** The schema of the body, for a route that reads its body itself, as bytes. */
  readonly body?: TSchema
  /** The media types of a body that is a file, instead of JSON. */
  readonly bodyTypes?: readonly string[]
  /** JSON Schema keywords for rules between members of the body, which the operation checks. */
  readonly bodyRules?: Readonly<Record<string, unknown>>
  /** Responses by status, in addition to `schema.response` or instead of it. */
  readonly answers?: Readonly<Record<number, ResponseNotes>>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly operation?: Operation
  }
}
