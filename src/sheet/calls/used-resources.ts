import type { Derivation, Resource } from '../../derivation/definition/derivation-kind.ts'
import { hostKey } from '../../derivation/definition/host-key.ts'
import { ServiceError } from '../../errors/service-error.ts'
import type { Sheet } from '../sheet.ts'

/** A resource that derivations of a sheet touch. */
export interface UsedResource extends Resource {
  /** The reason why this machine does not allow it; null when it does. */
  readonly refusal: string | null
  /** The way in which an allowed process is confined; absent for other resources. */
  readonly confinement?: string
}

/**
 * Lists the resources that the sheet's derivations use, each once, by type and name; empty while files of the sheet are
 * broken.
 */
export async function usedResources(sheet: Sheet): Promise<UsedResource[]> {
  const resources = new Map<string, UsedResource>()
  for (const derivation of await derivationsOf(sheet)) {
    for (const resource of derivation.resources) {
      const refusal = sheet.refusalOf(resource)
      const confinement =
        resource.type === 'process' && refusal === null ? { confinement: sheet.confinement } : {}
      resources.set(`${resource.type} ${resource.name}`, { ...resource, refusal, ...confinement })
    }
  }
  return [...resources].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, resource]) => resource)
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
    return (await sheet.defined()).derivations.levels.flat()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return []
  }
}
