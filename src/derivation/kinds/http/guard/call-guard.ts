import { hostOfUrl } from '../../../definition/host-key.ts'
import { NetworkFault } from '../call/network-fault.ts'
import { isRefusedAddress } from './refused-addresses.ts'

/** Hosts that may be called, as `hostKey` writes them, without `*`; none for a set that is empty, any for null. */
export type AllowedHosts = ReadonlySet<string> | null

type Verdict = 'allowed' | 'refused-address' | 'offline' | 'not-listed'

/**
 * Judges whom calls go to by what their URL says, before anything is looked up or connected. What a name leads to is
 * for the connector to judge.
 */
export class CallGuard {
  readonly #allowed: AllowedHosts
  /** The last judgement: calls of a run go to one host after the other. */
  #last: { readonly host: string; readonly verdict: Verdict } | null = null

  constructor(allowed: AllowedHosts) {
    this.#allowed = allowed
  }

  /** Why nothing is called at this `host:port`, in the form in which a parsed URL has them; null when it may be. */
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

  /**
   * Throws NetworkFault when a redirect to this URL is not to be followed; without its text, which the far end wrote.
   */
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

/** A `host:port` without its port. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '')
}
