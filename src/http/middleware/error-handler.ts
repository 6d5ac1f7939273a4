import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  messageWithHint,
  OperationError,
  ServiceError,
  ValidationError,
  type Hint,
} from '../../errors/service-error.ts'
import { addVary } from '../response/finish-response.ts'
import type { HttpLogger } from './http-logger.ts'
import { renderError, statusOf, type RenderableError } from '../response/render-error.ts'
import { loggedPath } from './request-head.ts'

/** A known path requested with a method that it does not have: 405, with `Allow` (D36). */
export class MethodError extends OperationError {
  readonly allow: string

  constructor(method: string, path: string, allowed: readonly string[]) {
    super(`${method} is not possible on ${path}; use ${allowed.join(' or ')}`, 'method_not_allowed')
    this.allow = allowed.join(', ')
  }
}

/** Returns the route that a hint refers to. */
function routeOf(hint: Hint): string {
  switch (hint.action) {
    case 'list_runs':
      return 'GET /api/runs lists them'
    case 'get_run':
      return `GET /api/runs/${hint.run} shows it`
    case 'cancel_run':
      return `POST /api/runs/${hint.run}/cancel cancels it`
    case 'remove_with_derivation':
      return 'PUT /api/contract with derivations does that'
    case 'list_entries':
      return 'GET /api/provenance with history=true lists the entries of a cell'
  }
}

/** Seconds to wait before a retry when the service is stopping or its store is unavailable. */
const RETRY_AFTER = '5'

/** Options of {@link createErrorHandler}. */
export interface ErrorHandlerOptions {
  readonly logger: HttpLogger
  readonly bodyLimit: number
}

/** Creates the only place where errors become responses: every error is sent as an error envelope (D36). */
export function createErrorHandler(
  options: ErrorHandlerOptions,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const known = error instanceof ServiceError ? error : fromFastify(error, request, options.bodyLimit)
    if (known === undefined) {
      options.logger.error({ err: error, ...about(request) }, 'internal error')
      sendError(request, reply, { code: 'internal_error', message: 'internal error' })
      return
    }
    const { code, type } = known
    const isStopping = code === 'service_stopping' || code === 'not_ready'
    if (statusOf(code) >= 500 && !isStopping) {
      options.logger.error({ type, code, ...about(request) }, known.message)
    }
    if (known instanceof MethodError) reply.header('allow', known.allow)
    if (isStopping || code === 'store_away') reply.header('retry-after', RETRY_AFTER)
    // Fastify would close the connection after a body that it did not read completely; a client that is still sending would then see a
    // reset instead of the response. Node reads the rest and drops it, within the deadline of the request.
    reply.removeHeader('connection')
    // An export that failed before its first byte is no longer a download.
    reply.removeHeader('content-disposition')
    const { violations, inFile } = known
    sendError(request, reply, { code, message: messageWithHint(known, routeOf), violations, inFile })
  }
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: RenderableError): void {
  const { status, contentType, body } = renderError(request.raw.headers, error)
  addVary(reply, 'Accept')
  reply.code(status).header('content-type', contentType).send(body)
}

function about(request: FastifyRequest): { method: string; path: string } {
  return { method: request.method, path: loggedPath(request.raw) }
}

/** Converts an error that Fastify raises for a bad request. Returns undefined for any other error, which is a bug. */
function fromFastify(error: unknown, request: FastifyRequest, bodyLimit: number): ServiceError | undefined {
  const { code, statusCode, message } = error as Partial<FastifyError>
  // The client disconnected while sending: nobody receives this response, and it is not an error of the service.
  if (code === 'ECONNRESET' && request.raw.destroyed)
    return new ValidationError('the body ended early', 'malformed_request')
  switch (code ?? '') {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': {
      const limit = request.routeOptions.bodyLimit ?? bodyLimit
      return new ValidationError(
        `the body is larger than ${limit} bytes; send less at a time`,
        'body_too_large',
      )
    }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ValidationError(
        'the content type is not understood; send application/json',
        'unsupported_media_type',
      )
    case 'FST_ERR_BAD_URL':
      return new ValidationError(
        'the path is not valid percent-encoded UTF-8; encode it as RFC 3986 says',
        'malformed_request',
      )
  }
  if (code?.startsWith('FST_') && statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ValidationError(message ?? 'the request is not valid', 'malformed_request')
  }
  return undefined
}
