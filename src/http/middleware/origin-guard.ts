import { isIP, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { PermissionDeniedError } from '../../errors/service-error.ts'
import { headerValues, isApiPath, requestPath } from './request-head.ts'

/** The host and port of a `Host` header or an origin; the port is empty if it is the default of the scheme. */
interface Authority {
  readonly host: string
  readonly port: string
}

const AUTHORITY = /^(\[[0-9a-f:.%]+\]|[^\s:/?#@[\]\\%,]+)(?::([0-9]{1,5}))?$/i
/** Values of `Sec-Fetch-Site` for requests of the service's own pages, and for those that a person began. */
const OWN_SITES: ReadonlySet<unknown> = new Set(['same-origin', 'none'])

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' }

/**
 * Decides whether a request may come from its origin (D38). Against DNS rebinding, `Host` must name `localhost`, an IP literal or one of
 * `allowedHosts`. Against pages of other sites, `Origin` must have the same host and port, and the browser must not mark the request as
 * cross-site or same-site. Clients other than browsers send neither header and pass.
 */
export class OriginGuard {
  readonly #allowed: ReadonlySet<string>
  #lastAllowed: string | undefined

  constructor(allowedHosts: readonly string[]) {
    this.#allowed = new Set(['localhost', ...allowedHosts.map((host) => host.toLowerCase())])
  }

  /** Throws PermissionDeniedError if the request is refused. */
  check(request: FastifyRequest): void {
    const { headers, rawHeaders, url = '/' } = request.raw
    const host = headers.host
    this.#checkHost(host)
    if (headerValues(rawHeaders, 'host').length > 1)
      throw new PermissionDeniedError('the request has more than one Host header', 'host_not_served')
    if (!url.startsWith('/') && url !== '*') this.#checkHost(/^https?:\/\/([^/?#]*)/i.exec(url)?.[1])
    const origin = headers.origin
    if (origin !== undefined && !sameOrigin(origin, host ?? '')) {
      throw new PermissionDeniedError(
        `requests from pages of ${quote(origin)} are refused; only pages of the service's own address may send them`,
        'origin_refused',
      )
    }
    const site = headers['sec-fetch-site']
    if (site !== undefined && !OWN_SITES.has(site) && !isPageNavigation(request)) {
      throw new PermissionDeniedError(
        `requests that the browser marks ${quote(site)} are refused`,
        'origin_refused',
      )
    }
  }

  #checkHost(host: string | undefined): void {
    if (host !== undefined && host === this.#lastAllowed) return
    const authority = parseAuthority(host ?? '')
    if (authority === undefined || !(isIpLiteral(authority.host) || this.#allowed.has(authority.host))) {
      throw new PermissionDeniedError(
        `the host ${quote(host ?? '')} is not served here; use localhost or an IP address, or start the server with --allow-host`,
        'host_not_served',
      )
    }
    this.#lastAllowed = host
  }
}

function parseAuthority(text: string): Authority | undefined {
  const match = AUTHORITY.exec(text)
  return match === null ? undefined : { host: (match[1] ?? '').toLowerCase(), port: match[2] ?? '' }
}

function isIpLiteral(host: string): boolean {
  return host.startsWith('[') ? isIPv6(host.slice(1, -1)) : isIP(host) === 4
}

/** Whether an origin is that of the host's own pages; the scheme is not compared, since a proxy may add TLS. */
function sameOrigin(origin: string, host: string): boolean {
  const match = /^(https?):\/\/(.*)$/i.exec(origin)
  const scheme = match?.[1]?.toLowerCase()
  const ours = parseAuthority(host)
  const theirs = parseAuthority(match?.[2] ?? '')
  if (scheme === undefined || ours === undefined || theirs === undefined) return false
  const portOf = (authority: Authority): string =>
    authority.port === '' ? (DEFAULT_PORTS[scheme] ?? '') : String(Number(authority.port))
  return canonicalHost(ours.host) === canonicalHost(theirs.host) && portOf(ours) === portOf(theirs)
}

/** Returns one spelling for each IPv6 address. */
function canonicalHost(host: string): string {
  return host.startsWith('[') && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host
}

/** Whether the request follows a link from another site to a page of the service; false for the interface itself. */
function isPageNavigation(request: FastifyRequest): boolean {
  const { headers, method } = request.raw
  return (
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    !isApiPath(request.routeOptions.url ?? requestPath(request.raw))
  )
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
