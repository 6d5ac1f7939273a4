import { lookup as systemLookup } from 'node:dns'
import type { LookupAddress, LookupAllOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { NetworkFault } from '../call/network-fault.ts'
import { isRefusedAddress } from './refused-addresses.ts'

/** Resolves all addresses of a name, as `dns.lookup` does. */
export type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * Returns a connector that never connects to a {@link isRefusedAddress | refused address}: it fails with NetworkFault instead. It checks
 * the very addresses that it connects to: a name is resolved once for a connection, and if one of its addresses is refused, it connects to
 * none.
 */
export function guardedConnector(timeoutMs: number, lookup: Lookup = systemLookup): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup: guardedLookup(lookup) })
  return (options, callback) => {
    // IP addresses are not looked up.
    if (isRefusedAddress(options.hostname)) process.nextTick(callback, leadsToRefused(), null)
    else connect(options, callback)
  }
}

function guardedLookup(lookup: Lookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null) callback(error, '')
      else if (addresses.some(({ address }) => isRefusedAddress(address))) callback(leadsToRefused(), '')
      else if (first === undefined)
        callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '')
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

function leadsToRefused(): NetworkFault {
  return new NetworkFault('refused: the host leads to a link-local or cloud metadata address')
}
