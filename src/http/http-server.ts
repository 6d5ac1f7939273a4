import { createServer, type RequestListener, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ErrorType } from '../errors/service-error.ts'
import { errorEnvelope } from '../wire/error-envelope.ts'
import { JSON_CONTENT_TYPE } from './json-reply.ts'

/** Longest request target in bytes (D36). */
export const URL_LIMIT = 64 * 1024

/** What the parser takes of request line and headers: room for the longest URL, and to see that one is too long. */
export const HEAD_LIMIT = 256 * 1024

const SECOND = 1000

/**
 * Makes the HTTP server under the app: its limits, and error envelopes where Node would answer by itself (D36).
 * A client has 30 seconds for the headers and 5 minutes for the whole request; answers may take as long as they take.
 */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer(
    {
      maxHeaderSize: HEAD_LIMIT,
      headersTimeout: 30 * SECOND,
      requestTimeout: 300 * SECOND,
      keepAliveTimeout: 65 * SECOND,
      connectionsCheckingInterval: 5 * SECOND,
      // A missing Host is the origin guard's to refuse, with an envelope.
      requireHostHeader: false,
    },
    listener,
  )
  server.maxConnections = 8192
  server.on('checkExpectation', listener)
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy())
    endWith(
      socket,
      405,
      'OperationError',
      'CONNECT is not possible; the service is no proxy',
      'Allow: GET, HEAD\r\n',
    )
  })
  return server
}

/** Answers a connection whose request the parser refused or whose client was too slow. */
export function answerParserError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable || answerIsOnItsWay(socket)) {
    socket.destroy()
    return
  }
  const [status, message] = describe(error.code)
  endWith(socket, status, 'ValidationError', message)
}

function describe(code: string | undefined): [status: number, message: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, `the request line and headers are larger than ${HEAD_LIMIT} bytes`]
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'the request took too long to arrive']
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, 'the chunk extensions of the body are too large']
    default:
      return [400, 'the request is not valid HTTP/1.1']
  }
}

/** Whether part of an answer has left already, so that nothing can be put before it; Node keeps that to itself. */
function answerIsOnItsWay(socket: Duplex & { _httpMessage?: { headersSent?: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
}

function endWith(socket: Duplex, status: number, type: ErrorType, message: string, extraHeader = ''): void {
  const body = JSON.stringify(errorEnvelope(type, message))
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\nContent-Type: ${JSON_CONTENT_TYPE}\r\n${extraHeader}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  // What the client still sends is read and dropped for a moment, or it would see a reset and not the answer.
  socket.resume()
  setTimeout(() => socket.destroy(), SECOND).unref()
}
