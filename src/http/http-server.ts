import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { renderError, type RenderableError } from './response/render-error.ts'
import { SECURITY_HEADER_LINES, SECURITY_HEADERS } from './middleware/security-headers.ts'
import { SlowBodies, type BodyPace } from './slow-bodies.ts'

// An import of node:http reads all of its exports, one of which loads the undici of Node.js: a tenth of the time to start.
const { createServer, METHODS } = process.getBuiltinModule('node:http')

/** Longest request target in bytes (D36). */
export const URL_LIMIT = 64 * 1024

/** Most bytes of request line and headers that the parser reads: enough for the longest URL, and to detect one that is too long. */
export const HEAD_LIMIT = 256 * 1024

/** Most headers of a request. Explicit, since Node silently drops those beyond its own limit. */
export const HEADER_COUNT_LIMIT = 1000

/** Most connections at a time. */
export const CONNECTION_LIMIT = 8192

const SECOND = 1000

/** Time limits for clients, in milliseconds. */
export interface HttpTimes {
  /** From connecting, or from the first byte of a further request, to the end of the headers. */
  readonly headersMs: number
  /** For the whole request. */
  readonly requestMs: number
  /** Between requests. */
  readonly idleMs: number
  /** The least that must arrive of a body while it is sent. */
  readonly bodyPace: BodyPace
  /** Time for which a client may read nothing of a response that waits for it. */
  readonly answerMs: number
  /** Interval of the checks of headers and bodies, by which a client may exceed its limits. */
  readonly checkMs: number
}

/**
 * A client that does not send its headers, or nothing at all, is disconnected within 30 seconds. One that stalls in mid-body is
 * disconnected after up to two windows, since it may have sent enough at the beginning of the first.
 */
export const HTTP_TIMES: HttpTimes = {
  headersMs: 28 * SECOND,
  requestMs: 300 * SECOND,
  idleMs: 65 * SECOND,
  bodyPace: { bytes: 8 * 1024, windowMs: 13 * SECOND },
  answerMs: 60 * SECOND,
  checkMs: SECOND / 2,
}

/**
 * Creates the HTTP server under the app, with its limits, and with error envelopes where Node would respond by itself (D36). The operations
 * limit the time in which a response is made.
 */
export function createHttpServer(listener: RequestListener, times: HttpTimes = HTTP_TIMES): Server {
  const server = createServer(
    {
      maxHeaderSize: HEAD_LIMIT,
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      keepAliveTimeout: times.idleMs,
      connectionsCheckingInterval: times.checkMs,
      // The origin guard refuses a missing Host, with an envelope.
      requireHostHeader: false,
    },
    (request, response) => {
      // Node's parser also accepts RTSP, whose methods no route has.
      if (METHODS.includes(request.method ?? '')) listener(request, response)
      else refuseMethod(request, response)
    },
  )
  server.maxConnections = CONNECTION_LIMIT
  server.maxHeadersCount = HEADER_COUNT_LIMIT
  server.setTimeout(times.answerMs, closeIfUseless)
  cutSlowBodies(server, times)
  server.on('checkContinue', (request, response) => {
    const goOn = (): void => {
      response.writeContinue()
      server.emit('request', request, response)
    }
    // Node would send these headers before a response that has to wait for earlier ones (seen in 24.21).
    if (response.socket === null) response.once('socket', goOn)
    else goOn()
  })
  // Unknown expectations are ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', ({ headers }, socket) => {
    socket.on('error', () => socket.destroy())
    const message = 'CONNECT is not possible; the service is not a proxy'
    const error: RenderableError = { code: 'method_not_allowed', message }
    afterEarlierResponses(socket, () =>
      endWith(socket, error, { headers, extraHeader: 'Allow: GET, HEAD\r\n' }),
    )
  })
  return server
}

/** A connection of Node's HTTP server; `_httpMessage` is internal to Node: the response that it is working on. */
type HttpSocket = Duplex & { readonly _httpMessage?: ServerResponse | null }

/** Closes a connection that has been idle for a while, unless it waits for its response. */
function closeIfUseless(socket: Socket & HttpSocket): void {
  if (socket.writableLength > 0 || !socket._httpMessage) socket.destroy()
}

function cutSlowBodies(server: Server, { bodyPace, checkMs }: HttpTimes): void {
  const bodies = new SlowBodies(bodyPace)
  server.on('request', (request) => bodies.watch(request))
  const timer = setInterval(() => {
    for (const socket of bodies.findStalled()) {
      const error = Object.assign(new Error('slow body'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      server.emit('clientError', error, socket)
    }
  }, checkMs).unref()
  server.on('close', () => clearInterval(timer))
}

function refuseMethod({ headers }: IncomingMessage, response: ServerResponse): void {
  const { status, contentType, body } = renderError(headers, { code: 'malformed_request', message: NOT_HTTP })
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  })
  response.end(body)
}

/** Responds on a connection whose request the parser refused or whose client was too slow. */
export function respondToParserError(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  afterEarlierResponses(socket, () => {
    if (!socket.writable || hasStarted(socket)) {
      socket.destroy()
      return
    }
    endWith(socket, describe(error.code))
  })
}

/** Connections that end once the responses to earlier requests are sent. */
const ENDING = new WeakSet<Duplex>()

/**
 * Ends a connection once the requests before the refused one have their responses. Otherwise the client would take the refusal for the
 * response to a request that may well succeed.
 */
function afterEarlierResponses(socket: HttpSocket, end: () => void): void {
  if (ENDING.has(socket)) return
  const earlier = responseToEarlierRequest(socket)
  if (earlier === null) {
    end()
    return
  }
  ENDING.add(socket)
  earlier.on('close', () => {
    // By then Node has replaced `_httpMessage` with the next response.
    setImmediate(() => {
      ENDING.delete(socket)
      afterEarlierResponses(socket, end)
    })
  })
}

const NOT_HTTP = 'the request is not valid HTTP/1.1'

function describe(fault: string | undefined): RenderableError {
  switch (fault) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        code: 'headers_too_large',
        message: `the request line and headers are larger than ${HEAD_LIMIT} bytes, or there are more than ${HEADER_COUNT_LIMIT} headers`,
      }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout', message: 'the request took too long to arrive' }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'body_too_large', message: 'the chunk extensions of the body are too large' }
    default:
      return { code: 'malformed_request', message: NOT_HTTP }
  }
}

/** Returns the response under way if its request arrived completely and the response will end; otherwise null. */
function responseToEarlierRequest({ _httpMessage: answer }: HttpSocket): ServerResponse | null {
  if (!answer?.req.complete) return null
  return answer.writableEnded || !answer.headersSent ? answer : null
}

/** Whether part of a response has been sent already, so that nothing can be sent before it. */
function hasStarted(socket: HttpSocket): boolean {
  return socket._httpMessage?.headersSent === true
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
}

/** Ends a connection with an error envelope: a request that the parser refused has no headers that could ask for another form. */
function endWith(
  socket: Duplex,
  error: RenderableError,
  { headers = {}, extraHeader = '' }: { headers?: IncomingHttpHeaders; extraHeader?: string } = {},
): void {
  const { status, contentType, body } = renderError(headers, error)
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\nContent-Type: ${contentType}\r\n${SECURITY_HEADER_LINES}${extraHeader}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  // The rest of the request is read and dropped for a moment; otherwise the client would see a reset instead of the response.
  socket.resume()
  setTimeout(() => socket.destroy(), SECOND).unref()
}
