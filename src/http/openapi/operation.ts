import type { TSchema } from 'typebox'

/** Groups of operations in the OpenAPI document. */
export type OperationTag =
  'Records' | 'Cells' | 'Runs' | 'Provenance' | 'Sheet' | 'Files' | 'Proposals' | 'Events' | 'Service'

/** Request headers that operations look at; what they mean is in `headers.ts`. */
export type RequestHeader =
  'Accept' | 'If-Match' | 'If-None-Match' | 'Last-Event-ID' | 'Prefer' | 'X-Svc-Actor'

/** Headers of answers; what they mean is in `headers.ts`. */
export type AnswerHeader =
  'Content-Disposition' | 'ETag' | 'Link' | 'Location' | 'Preference-Applied' | 'Retry-After' | 'Vary'

/** What an answer of one status looks like. */
export interface AnswerNotes {
  readonly description?: string
  readonly headers?: readonly AnswerHeader[]
  /** By media type; of a stream of lines or frames, the schema of one. Without it, what `schema.response` says, as JSON. */
  readonly content?: Readonly<Record<string, TSchema>>
}

/** What the OpenAPI document says of a route beyond its schemas; stands in the route's `config`. */
export interface Operation {
  /** Its `operationId`: camelCase, a verb first; clients are generated from it. */
  readonly id: string
  readonly tag: OperationTag
  /** A few words without a full stop. */
  readonly summary: string
  /** Markdown; what the summary leaves out. */
  readonly description?: string
  /** Errors beyond those that every operation of its sort can answer with. */
  readonly errors?: readonly (404 | 409 | 412 | 503)[]
  readonly headers?: readonly RequestHeader[]
  /** Of a route that reads its body by itself, as bytes. */
  readonly body?: TSchema
  /** Keywords of JSON Schema on how the members of the body go together, which the use case checks. */
  readonly bodyRules?: Readonly<Record<string, unknown>>
  /** By status; beside, or instead of, `schema.response`. */
  readonly answers?: Readonly<Record<number, AnswerNotes>>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly operation?: Operation
  }
}
