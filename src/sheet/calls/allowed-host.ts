import { hostKey } from '../../derivation/definition/host-key.ts'

/**
 * A host that derivations may call, `host` or `host:port`, in the form in which calls are compared with it. Throws through
 * `fail` for what could never match, and for patterns.
 */
export function allowedHost(written: string, fail: (message: string) => never): string {
  if (written.includes('*')) fail(`"${written}" is a pattern, so it matches nothing; write out each host`)
  return hostKey(written, fail)
}
