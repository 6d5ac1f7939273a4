import { DEFAULT_LIMITS, type LimitPolicy } from '../limiter/limit-policy.ts'
import { siteOf } from './host-key.ts'

/** The policy for calls to a host, from `transport.yaml`. Not part of the input hash. */
export interface HostPolicy extends LimitPolicy {
  /** Deadline of one try, in milliseconds. */
  readonly timeoutMs: number
  /** Dollars for each call, however often it is tried; null if unknown. */
  readonly costPerCall: number | null
}

/** The policy for a host that `transport.yaml` does not have. */
export const DEFAULT_HOST_POLICY: HostPolicy = {
  ...DEFAULT_LIMITS,
  timeoutMs: 30_000,
  costPerCall: null,
}

/** The policies of all hosts. */
export interface HostPolicies {
  /** Returns the policy for calls to this URL. */
  forUrl(url: string): HostPolicy
  /** The highest concurrency of any host. */
  readonly maxConcurrency: number
}

/** The policies of a sheet without a `transport.yaml`. */
export const DEFAULT_HOST_POLICIES: HostPolicies = {
  forUrl: () => DEFAULT_HOST_POLICY,
  maxConcurrency: DEFAULT_HOST_POLICY.concurrency,
}

/** The settings of hosts, by `host:port`, `host` or `*`; hosts as in a parsed URL. */
export type HostEntries = ReadonlyMap<string, Partial<HostPolicy>>

/**
 * Combines entries to policies: a setting that `host:port` lacks comes from `host`, then from `*`, then from the defaults. A URL without a
 * port has that of its scheme.
 */
export function hostPolicies(entries: HostEntries): HostPolicies {
  const merged = (...keys: readonly string[]): HostPolicy =>
    Object.assign({}, DEFAULT_HOST_POLICY, ...keys.map((key) => entries.get(key))) as HostPolicy
  const forHost = (host: string, port: string): HostPolicy => merged('*', host, `${host}:${port}`)

  const known = new Map<string, HostPolicy>()
  const concurrencies = ['*', ...entries.keys()].map((key) => {
    const [, host = key, port = ''] = /^(.*):(\d+)$/.exec(key) ?? []
    return forHost(host, port).concurrency
  })
  return {
    forUrl(url) {
      const { host } = siteOf(url)
      let policy = known.get(host)
      if (policy === undefined) {
        const colon = host.lastIndexOf(':')
        policy = forHost(host.slice(0, colon), host.slice(colon + 1))
        known.set(host, policy)
      }
      return policy
    },
    maxConcurrency: Math.max(...concurrencies),
  }
}
