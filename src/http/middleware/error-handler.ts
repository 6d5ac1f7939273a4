import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  ConflictError,
  OperationError,
  PreconditionFailedError,
  ServiceError,
  StoppingError,
  StoreAwayError,
  ValidationError,
  type ErrorType,
} from '../../errors/service-error.ts'
import { addVary } from '../response/finish-response.ts'
import type { HttpLogger } from './http-logger.ts'
import { renderError, type AnsweredError } from '../response/render-error.ts'
import { loggedPath } from './request-head.ts'

/** The HTTP status of each error type (specification, "Errors"; D36). */
export const STATUS: Readonly<Record<ErrorType, number>> = {
  ContractError: 500,
  SheetError: 404,
  RecordsError: 500,
  QueryError: 400,
  OperationError: 400,
  PermissionDeniedError: 403,
  LockTimeoutError: 409,
  ValidationError: 400,
  ServiceError: 500,
}

/** A request refused for its form as an HTTP message, with a status of its own such as 413 or 415 (D36). */
export class ProtocolError extends ValidationError {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A known path asked for with a method that it does not have: 405, with `Allow` (D36). */
export class MethodError extends OperationError {
  readonly status = 405
  readonly allow: string

  constructor(method: string, path: string, allowed: readonly string[]) {
    super(`${method} is not possible on ${path}; use ${allowed.join(' or ')}`)
    this.allow = allowed.join(', ')
  }
}

/** The process is about to end, which `GET /api/healthz` answers with a 503 for load balancers. */
export class UnhealthyError extends OperationError {
  readonly status = 503

  constructor() {
    super('the service is stopping; try again when it has been started anew')
  }
}

/** Seconds after which it is worth trying again when a service was being stopped, or its store was away. */
const RETRY_AFTER = '5'

/** What a handler of errors needs to know of the service. */
export interface ErrorHandlerOptions {
  readonly logger: HttpLogger
  readonly bodyLimit: number
}

/** Makes the one place where errors become answers: whatever is thrown leaves as an error envelope (D36). */
export function createErrorHandler(
  options: ErrorHandlerOptions,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const known = error instanceof ServiceError ? error : fromFastify(error, request, options.bodyLimit)
    if (known === undefined) {
      options.logger.error({ err: error, ...about(request) }, 'internal error')
      sendError(request, reply, {
        status: STATUS.ServiceError,
        type: 'ServiceError',
        message: 'internal error',
      })
      return
    }
    const status = statusOf(known)
    const isStopping = known instanceof StoppingError || known instanceof UnhealthyError
    if (status >= 500 && !isStopping)
      options.logger.error({ type: known.type, ...about(request) }, known.message)
    if (known instanceof MethodError) reply.header('allow', known.allow)
    if (isStopping || known instanceof StoreAwayError) reply.header('retry-after', RETRY_AFTER)
    // Fastify wants to hang up after a body that it did not read to its end; a client that is still sending would
    // then see a reset instead of the answer. Node reads the rest and drops it, within the request's deadline.
    reply.removeHeader('connection')
    // Of a file that could not be begun.
    reply.removeHeader('content-disposition')
    sendError(request, reply, { status, type: known.type, message: known.message })
  }
}

/** The status of a service error: its own, if it is about the HTTP message or its conditions, or that of its type. */
export function statusOf(error: ServiceError): number {
  if (error instanceof ProtocolError || error instanceof MethodError || error instanceof UnhealthyError) {
    return error.status
  }
  if (error instanceof PreconditionFailedError) return 412
  if (error instanceof ConflictError) return 409
  return STATUS[error.type]
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: AnsweredError): void {
  const { contentType, body } = renderError(request.raw.headers, error)
  addVary(reply, 'Accept')
  reply.code(error.status).header('content-type', contentType).send(body)
}

function about(request: FastifyRequest): { method: string; path: string } {
  return { method: request.method, path: loggedPath(request.raw) }
}

/** What Fastify itself finds wrong with a request; undefined for everything else, which is then a bug. */
function fromFastify(error: unknown, request: FastifyRequest, bodyLimit: number): ServiceError | undefined {
  const { code, statusCode, message } = error as Partial<FastifyError>
  // The client hung up while sending; nobody hears this answer, and it is no fault of the program.
  if (code === 'ECONNRESET' && request.raw.destroyed) return new ProtocolError(400, 'the body ended early')
  switch (code ?? '') {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': {
      const limit = request.routeOptions.bodyLimit ?? bodyLimit
      return new ProtocolError(413, `the body is larger than ${limit} bytes; send less at a time`)
    }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ProtocolError(415, 'the content type is not understood; send application/json')
    case 'FST_ERR_BAD_URL':
      return new ProtocolError(400, 'the path is not valid percent-encoded UTF-8; encode it as RFC 3986 says')
  }
  if (code?.startsWith('FST_') && statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ProtocolError(statusCode, message ?? 'the request is not valid')
  }
  return undefined
}
