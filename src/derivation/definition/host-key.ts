/**
 * Returns a key of `hosts` in the form of lookups: `*`, or host or `host:port` as in a parsed URL (lower case, IPv6 in brackets, names in
 * their ASCII form). Calls `fail`, which throws, for keys that can never match.
 */
export function hostKey(written: string, fail: (message: string) => never): string {
  if (written === '*') return '*'
  refuseParts(written, fail)
  const [, name = '', port] = /^(\[.*\]|[^:]*)(?::(.*))?$/.exec(written) ?? []
  if (name === '' && written.includes(':'))
    fail(`"${written}" is no host; an IPv6 address goes in brackets: "[::1]" or "[::1]:8080"`)
  const host = URL.parse(`http://${name}/`)?.hostname
  if (!host) return fail(`"${written}" is no host; write host or host:port`)
  if (port === undefined) return host
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0
  if (number < 1 || number > 65_535) fail(`"${written}" has the port "${port}"; a port is 1 to 65535`)
  return `${host}:${number}`
}

/** Returns `host:port` of a URL, with the default port of its scheme if it has none. */
export function hostOfUrl({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

/** The site that a URL refers to. */
export interface Site {
  /** The start of the URL as written: all before its path. */
  readonly start: string
  readonly origin: string
  /** See {@link hostOfUrl}. */
  readonly host: string
}

/** Successive calls of a run mostly go to the same site; parsing a URL takes longer than comparing it. */
let lastSite: Site | null = null

/** Returns the site of an http or https URL. */
export function siteOf(url: string): Site {
  if (lastSite === null || !leadsTo(url, lastSite)) {
    const [start = url] = /^[a-z]+:\/\/[^/?#]*/i.exec(url) ?? []
    const parsed = new URL(start)
    lastSite = { start, origin: parsed.origin, host: hostOfUrl(parsed) }
  }
  return lastSite
}

function leadsTo(url: string, { start }: Site): boolean {
  return url.startsWith(start) && (url.length === start.length || '/?#'.includes(url.charAt(start.length)))
}

/** Refuses parts of a URL other than host and port, and patterns: such keys would match nothing. */
function refuseParts(written: string, fail: (message: string) => never): void {
  const only = 'write only the host, as api.example or api.example:8080'
  if (written.includes('://')) fail(`"${written}" has a scheme, so it matches nothing; ${only}`)
  if (/[/?#\\]/.test(written)) fail(`"${written}" has a path, so it matches nothing; ${only}`)
  if (written.includes('@')) fail(`"${written}" has a user name, so it matches nothing; ${only}`)
  if (written.includes('*'))
    fail(`"${written}" is a pattern, so it matches nothing; * alone stands for every host`)
  if (/[\s%]|^$/.test(written)) fail(`"${written}" is no host; ${only}`)
}
