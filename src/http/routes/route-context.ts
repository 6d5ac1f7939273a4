import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify'
import type { Sheet } from '../../sheet/sheet.ts'
import type { HttpLogger } from '../middleware/http-logger.ts'
import type { OpenApiFile } from '../openapi/openapi-file.ts'
import type { RequestActors } from '../middleware/request-actor.ts'
import type { EventStreams } from '../response/event-streams.ts'

/** An app whose routes have the types of wire/. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type RequestHook = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void

/** The dependencies of every group of routes. */
export interface RouteContext {
  readonly sheet: Sheet
  readonly logger: HttpLogger
  readonly streams: EventStreams
  readonly actors: RequestActors
  /** Returns the present OpenAPI document. */
  openApi(): Promise<OpenApiFile>
  /** Whether the service is being stopped. */
  isClosing(): boolean
  /** For routes that neither issue the CSRF cookie nor require the token; `read` and `write` include it. */
  readonly checkHead: RequestHook
  /** Options of a route that reads: it issues the CSRF cookie. */
  readonly read: { readonly onRequest: RequestHook }
  /** Options of a route that writes: it requires the CSRF token. */
  readonly write: { readonly onRequest: RequestHook }
}
