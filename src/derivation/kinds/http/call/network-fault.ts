/** What went wrong in an exchange, as short text that holds nothing from the other end. Stays inside the transport. */
export class NetworkFault extends Error {
  /** Whether another try may go better. */
  readonly transient: boolean

  constructor(message: string, transient = false) {
    super(message)
    this.transient = transient
  }
}

/** More bytes of an answer's body than this are not read, counted as sent and again after decoding. */
export const BODY_LIMIT = 10 * 1024 * 1024

export const TOO_LARGE = `body larger than ${BODY_LIMIT / 1024 / 1024} MiB`

export const HEADERS_TOO_LARGE = 'response headers too large'

const DETAILS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'host name lookup failed',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  // The client's own, for what its parser lets pass, such as the status 000.
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

/** Faults of the way to the host, or of a host that is down or starting; not those of what it says or is. */
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
 * What an error of the HTTP client means, told from its code alone, since its message can hold text from the other
 * end. Misuse of the client is a bug and comes back as it is.
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
