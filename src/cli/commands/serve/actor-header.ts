import { InvalidArgumentError } from 'commander'

/** Headers with another meaning, or that reverse proxies set to something other than a user. */
const TAKEN: ReadonlySet<string> = new Set(
  `age allow alt-svc alt-used authorization cache-control connection cookie cookie2 date dnt downlink dpr early-data
  ect etag expect expires forwarded from host http2-settings idempotency-key keep-alive last-modified link location
  max-forwards origin pragma prefer priority range referer retry-after rtt save-data server service-worker set-cookie te
  trailer transfer-encoding tracestate traceparent upgrade upgrade-insecure-requests user-agent vary via warning
  www-authenticate x-csrf-token x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-prefix
  x-forwarded-proto x-forwarded-scheme x-forwarded-server x-real-ip x-request-id x-requested-with
  x-svc-actor`.split(/\s+/),
)

/** Prefixes of such headers. */
const TAKEN_PREFIX = /^(?:accept|access-control|content|device|if|last-event|proxy|sec|viewport)-|^accept$/

/**
 * Parses the name of the header in which a reverse proxy names the actor, in lower case. Throws InvalidArgumentError
 * for an invalid name (RFC 9110, section 5.1), and for headers with another purpose.
 */
export function parseActorHeader(text: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)) {
    throw new InvalidArgumentError('Give a header name alone, such as X-Forwarded-User.')
  }
  const name = text.toLowerCase()
  if (TAKEN.has(name) || TAKEN_PREFIX.test(name)) {
    throw new InvalidArgumentError(
      'Requests have this header for another purpose; give one that only your reverse proxy sets, such as X-Forwarded-User.',
    )
  }
  return name
}
