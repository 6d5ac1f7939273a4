import { hostOfUrl } from '../../definition/host-key.ts'
import { NetworkFault } from '../call/network-fault.ts'
import { isRefusedAddress } from './refused-addresses.ts'

/** Hosts that may be called, in the form of `hostKey`, without `*`; none for an empty set, any for null. */
export type AllowedHosts = ReadonlySet<string> | null

type Verdict = 'allowed' | 'refused-address' | 'offline' | 'not-listed'

/**
 * Decides by its URL whether a host may be called, before anything is resolved or connected. The connector decides about resolved
 * addresses.
 */
export class CallGuard {
  readonly #allowed: AllowedHosts
  /** The last verdict: calls of a run mostly go to the same host. */
  #last: { readonly host: string; readonly verdict: Verdict } | null = null

  constructor(allowed: AllowedHosts) {
    this.#allowed = allowed
  }

  /** Returns the reason why this `host:port`, as in a parsed URL, is not called; null if it may be. */
  refusal(host: string): string | null {
    switch (this.#judge(host)) {
      case 'allowed':
        return null
      case 'refused-address':
        return `${nameOf(host)} is a link-local or cloud metadata address, which is never called`
      case 'offline':
        return '--offline lets derivations call nobody'
      case 'not-listed':
        return `--allow-net does not list ${host}`
    }
  }

  /** Throws NetworkFault if a redirect to this URL must not be followed; the error omits the URL, which the host wrote. */
  checkRedirect(url: URL): void {
    switch (this.#judge(hostOfUrl(url))) {
      case 'allowed':
        return
      case 'refused-address':
        throw new NetworkFault('refused: redirect to a link-local or cloud metadata address')
      case 'offline':
      case 'not-listed':
        throw new NetworkFault('refused: redirect to a host that --allow-net does not list')
    }
  }

  #judge(host: string): Verdict {
    if (this.#last?.host !== host) this.#last = { host, verdict: this.#judged(host) }
    return this.#last.verdict
  }

  #judged(host: string): Verdict {
    const name = nameOf(host)
    if (isRefusedAddress(name.replace(/^\[(.*)\]$/, '$1'))) return 'refused-address'
    if (this.#allowed === null || this.#allowed.has(name) || this.#allowed.has(host)) return 'allowed'
    return this.#allowed.size === 0 ? 'offline' : 'not-listed'
  }
}

/** Returns the host of a `host:port`. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '')
}
