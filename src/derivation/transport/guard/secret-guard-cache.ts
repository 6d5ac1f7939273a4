import { SecretGuard } from './secret-guard.ts'

/** Most sets of secrets that are cached; a sheet has a few. */
export const KEPT_GUARDS = 64

/** Caches the guard of each set of secrets, since creating one takes longer than searching most values. */
export class SecretGuards {
  /** By the secrets, oldest first. Private, so that no log and no inspection shows the keys (D23). */
  readonly #kept = new Map<string, SecretGuard>()

  of(secrets: readonly string[]): SecretGuard {
    // No header can contain this character, so no two sets share a key.
    const key = secrets.join('\0')
    const kept = this.#kept.get(key)
    if (kept) return kept
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size === KEPT_GUARDS) this.#kept.delete(oldest)
    const guard = new SecretGuard(secrets)
    this.#kept.set(key, guard)
    return guard
  }
}
