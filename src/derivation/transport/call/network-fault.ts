/** The error of an exchange, as short text without any text from the host. Stays inside the transport. */
export class NetworkFault extends Error {
  /** Whether another try may succeed. */
  readonly transient: boolean

  constructor(message: string, transient = false) {
    super(message)
    this.transient = transient
  }
}

/** Most bytes of a response body that are read, counted as sent and again after decoding. */
export const BODY_LIMIT = 10 * 1024 * 1024

export const TOO_LARGE = `body larger than ${BODY_LIMIT / 1024 / 1024} MiB`

export const HEADERS_TOO_LARGE = 'response headers too large'

const DETAILS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'host name lookup failed',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  // An assertion of the client for responses that its parser accepts, such as the status 000.
  ERR_ASSERTION: 'invalid HTTP response',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  ENOTFOUND: 'host not found',
  EPIPE: 'connection reset',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_DESTROYED: 'connection closed',
  UND_ERR_CLOSED: 'connection closed',
  UND_ERR_HEADERS_OVERFLOW: HEADERS_TOO_LARGE,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid HTTP response',
  UND_ERR_SOCKET: 'connection closed',
}

/** Errors of the network, or of a host that is down or starting; not those of its responses. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
])

/**
 * Converts an error of the HTTP client by its code alone, since its message can contain text from the host. Misuse of the client is a bug
 * and is returned unchanged.
 */
export function toNetworkFault(error: Error): Error {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (error instanceof NetworkFault || code === 'UND_ERR_INVALID_ARG') return error
  // Some errors of the parser have no code.
  if (error.name === 'HTTPParserError') return new NetworkFault('invalid HTTP response')
  return new NetworkFault(detailOf(code), TRANSIENT.has(code))
}

function detailOf(code: string): string {
  if (code === '') return 'network failure'
  const detail = Object.hasOwn(DETAILS, code) ? DETAILS[code] : undefined
  return detail ?? (isTls(code) ? `TLS failure (${code})` : `network failure (${code})`)
}

function isTls(code: string): boolean {
  return /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_)/.test(code)
}
