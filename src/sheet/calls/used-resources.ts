import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { hostKey } from '../../derivation/definition/host-key.ts'
import { ServiceError } from '../../errors/service-error.ts'
import type { Sheet } from '../sheet.ts'

/** A host that derivations of a sheet call. */
export interface CalledHost {
  /** `host:port`. */
  readonly host: string
  /** The reason why this process refuses to call it; null when it does not. */
  readonly refusal: string | null
}

/**
 * Lists the hosts that the sheet's derivations call, each once, sorted by name; empty while files of the sheet are
 * broken.
 */
export async function calledHosts(sheet: Sheet): Promise<CalledHost[]> {
  const refusals = new Map<string, string | null>()
  for (const { kind, spec, hosts } of await derivationsOf(sheet)) {
    for (const host of hosts) refusals.set(host, kind.refusal(spec))
  }
  return [...refusals]
    .map(([host, refusal]) => ({ host, refusal }))
    .toSorted((one, other) => (one.host < other.host ? -1 : 1))
}

/**
 * Returns the normalized form, `host:port`, of a host that derivations may call, in which calls are compared with it. Calls
 * `fail` with a message for patterns, and for what cannot be a host.
 */
export function allowedHost(written: string, fail: (message: string) => never): string {
  if (written.includes('*')) fail(`"${written}" is a pattern, so it matches nothing; write out each host`)
  return hostKey(written, fail)
}

async function derivationsOf(sheet: Sheet): Promise<readonly Derivation[]> {
  try {
    return (await sheet.deriving()).derivations.levels.flat()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return []
  }
}
