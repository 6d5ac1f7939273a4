import { OperationError } from '../errors/service-error.ts'
import type { DerivationKind } from './definition/derivation-kind.ts'
import { httpKind } from './kinds/http/http-kind.ts'
import type { Transport } from './kinds/http/call/transport.ts'

/** The kinds that derivation files can name, by name. */
export type Kinds = ReadonlyMap<string, DerivationKind>

/** What kinds need of the world. */
export interface KindOptions {
  readonly transport: Transport
  /** Where `{{ env.NAME }}` is looked up (D23); by default the process's environment. */
  readonly env?: NodeJS.ProcessEnv
  /** Kinds beside those of the service. */
  readonly own?: readonly DerivationKind[]
}

/** The registry: a new kind is one line here. Throws OperationError for two kinds of one name. */
export function createKinds({ transport, env = process.env, own = [] }: KindOptions): Kinds {
  const kinds: readonly DerivationKind[] = [httpKind(transport, env), ...own]
  const byName = new Map(kinds.map((kind) => [kind.name, kind]))
  if (byName.size === kinds.length) return byName
  const names = kinds.map(({ name }) => name).join(', ')
  throw new OperationError(`two kinds of derivations have the same name; they are called ${names}`)
}
