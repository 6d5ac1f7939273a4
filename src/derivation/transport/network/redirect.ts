import type { Hop, HopResponse } from './hop.ts'
import { NetworkFault } from '../call/network-fault.ts'

/** Most redirects that are followed in one exchange. */
export const MAX_REDIRECTS = 5

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Headers with credentials of one origin, whether or not they come from the environment. */
const CREDENTIALS: readonly string[] = ['authorization', 'cookie']

/**
 * Returns the request that a redirect leads to; null if the response is not a redirect that can be followed. As in fetch, 303, and 301 and
 * 302 after POST, become GET without a body. To another origin, credentials and the headers in `secretHeaders` (lower case) are not sent.
 * Throws NetworkFault for schemes other than http and https.
 */
export function redirectedHop(
  hop: Hop,
  response: HopResponse,
  secretHeaders: ReadonlySet<string>,
): Hop | null {
  const location = REDIRECTS.has(response.status) ? response.header('location') : undefined
  if (location === undefined) return null
  // Header bytes are read as Latin-1; addresses are UTF-8 if they are not ASCII.
  const to = URL.parse(Buffer.from(location, 'latin1').toString('utf8'), hop.url)
  if (!to) throw new NetworkFault('redirect to an invalid address')
  if (to.protocol !== 'http:' && to.protocol !== 'https:') {
    throw new NetworkFault('redirect to a scheme other than http and https')
  }

  const dropsBody = response.status === 303 || (response.status <= 302 && hop.method === 'POST')
  const leavesOrigin = new URL(hop.url).origin !== to.origin
  const headers = Object.entries(hop.headers).filter(([header]) => {
    const name = header.toLowerCase()
    if (dropsBody && name.startsWith('content-')) return false
    return !(leavesOrigin && (secretHeaders.has(name) || CREDENTIALS.includes(name)))
  })
  return {
    method: dropsBody ? 'GET' : hop.method,
    url: `${to.origin}${to.pathname}${to.search}`,
    headers: Object.fromEntries(headers),
    body: dropsBody ? null : hop.body,
  }
}
