import {
  createServer,
  METHODS,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { renderError, type RenderableError } from './response/render-error.ts'
import { SECURITY_HEADER_LINES, SECURITY_HEADERS } from './middleware/security-headers.ts'
import { SlowBodies, type BodyPace } from './slow-bodies.ts'

/** Longest request target in bytes (D36). */
export const URL_LIMIT = 64 * 1024

/** What the parser takes of request line and headers: room for the longest URL, and to see that one is too long. */
export const HEAD_LIMIT = 256 * 1024

/** Most headers of a request. Explicit, since Node has dropped what is beyond its own limit without a word. */
export const HEADER_COUNT_LIMIT = 1000

/** Most connections at a time. */
export const CONNECTION_LIMIT = 8192

const SECOND = 1000

/** How long clients may take, in milliseconds. */
export interface HttpTimes {
  /** From connecting, or from the first byte of a further request, to the end of the headers. */
  readonly headersMs: number
  /** For the whole request. */
  readonly requestMs: number
  /** Between requests. */
  readonly idleMs: number
  /** What must come of a body while it is under way. */
  readonly bodyPace: BodyPace
  /** How long a client may take nothing of an answer that waits for it. */
  readonly answerMs: number
  /** How often headers and bodies are looked at: a client may take so much longer. */
  readonly checkMs: number
}

/**
 * A client that does not send its headers, or not one byte, is gone within 30 seconds, and so is one that stalls in
 * mid-body: after up to two windows, since it may have sent enough at the beginning of the first.
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
 * Makes the HTTP server under the app: its limits, and error envelopes where Node would answer by itself (D36).
 * How long it takes to make an answer is the use case's business.
 */
export function createHttpServer(listener: RequestListener, times: HttpTimes = HTTP_TIMES): Server {
  const server = createServer(
    {
      maxHeaderSize: HEAD_LIMIT,
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      keepAliveTimeout: times.idleMs,
      connectionsCheckingInterval: times.checkMs,
      // A missing Host is the origin guard's to refuse, with an envelope.
      requireHostHeader: false,
    },
    (request, response) => {
      // Node's parser also reads RTSP, whose methods no router knows.
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
    // Of an answer that has to wait for earlier ones Node would put the headers before this (seen in 24.21).
    if (response.socket === null) response.once('socket', goOn)
    else goOn()
  })
  // Expectations that nobody knows are none.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', ({ headers }, socket) => {
    socket.on('error', () => socket.destroy())
    const message = 'CONNECT is not possible; the service is no proxy'
    const error: RenderableError = { code: 'method_not_allowed', message }
    afterEarlierAnswers(socket, () =>
      endWith(socket, error, { headers, extraHeader: 'Allow: GET, HEAD\r\n' }),
    )
  })
  return server
}

/** A connection of Node's HTTP server, which keeps to itself which answer it is working on. */
type HttpSocket = Duplex & { readonly _httpMessage?: ServerResponse | null }

/** For a connection on which nothing has happened for a while; one that waits for its answer may go on waiting. */
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

/** Answers a connection whose request the parser refused or whose client was too slow. */
export function answerParserError(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  afterEarlierAnswers(socket, () => {
    if (!socket.writable || answerIsOnItsWay(socket)) {
      socket.destroy()
      return
    }
    endWith(socket, describe(error.code))
  })
}

/** Connections that end when the answers of earlier requests are out. */
const ENDING = new WeakSet<Duplex>()

/**
 * Ends a connection when the requests before the one at fault have been answered. Or the client would take the refusal
 * for the answer of a request that may well succeed.
 */
function afterEarlierAnswers(socket: HttpSocket, end: () => void): void {
  if (ENDING.has(socket)) return
  const earlier = answerOfEarlierRequest(socket)
  if (earlier === null) {
    end()
    return
  }
  ENDING.add(socket)
  earlier.on('close', () => {
    // By then Node has put the next answer in its place.
    setImmediate(() => {
      ENDING.delete(socket)
      afterEarlierAnswers(socket, end)
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

/** The answer under way when it is that of a request which came as a whole, and when it will come to an end. */
function answerOfEarlierRequest({ _httpMessage: answer }: HttpSocket): ServerResponse | null {
  if (!answer?.req.complete) return null
  return answer.writableEnded || !answer.headersSent ? answer : null
}

/** Whether part of an answer has left already, so that nothing can be put before it. */
function answerIsOnItsWay(socket: HttpSocket): boolean {
  return socket._httpMessage?.headersSent === true
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
}

/** Ends a connection with an error; what the parser refused has no headers that could ask for another form of it. */
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
  // What the client still sends is read and dropped for a moment, or it would see a reset and not the answer.
  socket.resume()
  setTimeout(() => socket.destroy(), SECOND).unref()
}
