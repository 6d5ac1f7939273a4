import type { DerivationKind } from './derivation-kind.ts'
import { httpKind } from './kinds/http/http-kind.ts'
import type { Transport } from './kinds/http/transport.ts'

/** The kinds that derivation files can name, by name. */
export type Kinds = ReadonlyMap<string, DerivationKind>

/** What kinds need of the world. */
export interface KindOptions {
  readonly transport: Transport
  /** Where `{{ env.NAME }}` is looked up (D23); by default the process's environment. */
  readonly env?: NodeJS.ProcessEnv
}

/** The registry: a new kind is one line here. */
export function createKinds({ transport, env = process.env }: KindOptions): Kinds {
  const kinds: readonly DerivationKind[] = [httpKind(transport, env)]
  return new Map(kinds.map((kind) => [kind.name, kind]))
}
