import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { ServiceError } from '../../errors/service-error.ts'
import type { Sheet } from '../sheet.ts'

/** A host that derivations of a sheet call. */
export interface CalledHost {
  /** `host:port`. */
  readonly host: string
  /** Why this machine does not call it; null when it does. */
  readonly refusal: string | null
}

/** The hosts that the sheet's derivations call, each once, by name; none while files of the sheet are broken. */
export async function calledHosts(sheet: Sheet): Promise<CalledHost[]> {
  const refusals = new Map<string, string | null>()
  for (const { kind, spec, hosts } of await derivationsOf(sheet)) {
    for (const host of hosts) refusals.set(host, kind.refusal(spec))
  }
  return [...refusals]
    .map(([host, refusal]) => ({ host, refusal }))
    .toSorted((one, other) => (one.host < other.host ? -1 : 1))
}

async function derivationsOf(sheet: Sheet): Promise<readonly Derivation[]> {
  try {
    return (await sheet.deriving()).derivations.levels.flat()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return []
  }
}
