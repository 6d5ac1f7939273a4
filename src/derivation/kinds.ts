import { OperationError } from '../errors/service-error.ts'
import type { DerivationKind, Resource } from './definition/derivation-kind.ts'
import type { FormulaDialect } from '../store/formula.ts'
import { AiKind } from './kinds/ai/ai-kind.ts'
import { FirstKind } from './kinds/first/first-kind.ts'
import { httpKind } from './kinds/http/http-kind.ts'
import { LOOKUP_PLACES, LookupKind } from './kinds/lookup/lookup-kind.ts'
import { SqlKind } from './kinds/sql/sql-kind.ts'
import type { ScriptHost } from './kinds/script/script-host.ts'
import { ScriptKind } from './kinds/script/script-kind.ts'
import type { TableReader } from './kinds/lookup/table.ts'
import type { Transport } from './transport/call/transport.ts'

/**
 * The sources of log entries that no derivation wrote. A kind of such a name would make them ambiguous; `import` is not reserved, since
 * entries of a derivation have `derivation`.
 */
const RESERVED_NAMES: readonly string[] = ['write', 'delete', 'revert']

/** The kinds that derivation files can name, and the resources that this machine allows them. */
export class Kinds {
  readonly #byName: ReadonlyMap<string, DerivationKind>
  readonly #refusal: (resource: Resource) => string | null

  /**
   * `refusal` returns the reason why a resource is not allowed, null if it is. Throws OperationError for two kinds of one name, and for a
   * reserved name.
   */
  constructor(kinds: readonly DerivationKind[], refusal: (resource: Resource) => string | null) {
    this.#byName = new Map(kinds.map((kind) => [kind.name, kind]))
    this.#refusal = refusal
    const names = kinds.map(({ name }) => name)
    if (this.#byName.size < kinds.length) {
      throw new OperationError(
        `two kinds of derivations have the same name; they are called ${names.join(', ')}`,
      )
    }
    const reserved = names.find((name) => RESERVED_NAMES.includes(name))
    if (reserved === undefined) return
    throw new OperationError(
      `a kind of derivations cannot be called ${reserved}: the log has entries of that source; choose another name`,
    )
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()]
  }

  get(name: string): DerivationKind | undefined {
    return this.#byName.get(name)
  }

  /** Returns the reason why a resource is refused, for the first refused one; null if all are allowed. */
  refusalOf(resources: readonly Resource[]): string | null {
    for (const resource of resources) {
      const refusal = this.#refusal(resource)
      if (refusal !== null) return refusal
    }
    return null
  }
}

/** The parts that kinds are made from; every entry point (server, worker, push, validation, library) passes the same. */
export interface KindOptions {
  /** The transport of `http` and `ai`; the hosts that it refuses are refused to every kind. */
  readonly transport: Transport
  /** The environment for `{{ env.NAME }}` (D23); by default that of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** Reads the tables of `import` and `cross_sheet`; without it these kinds are not there. */
  readonly readTable?: TableReader
  /** Reads the formulas of `sql`; without it the kind is not there. */
  readonly formulas?: FormulaDialect
  /** Runs the scripts of `script`; without it the kind is not there. */
  readonly scripts?: ScriptHost
  /** Kinds in addition to those of the service. */
  readonly own?: readonly DerivationKind[] | undefined
}

/** The names of one kind: `python` is that of files which other programs write. */
const SCRIPT_NAMES = ['script', 'python'] as const

/** Returns the registry: a new kind is one line here. Throws OperationError as {@link Kinds} does. */
export function createKinds({
  transport,
  env = process.env,
  readTable,
  formulas,
  scripts,
  own = [],
}: KindOptions): Kinds {
  const kinds: readonly DerivationKind[] = [
    httpKind(transport, env),
    new AiKind(transport, env),
    ...(readTable === undefined
      ? []
      : [new LookupKind(readTable), new LookupKind(readTable, LOOKUP_PLACES.sheet)]),
    ...(formulas === undefined ? [] : [new SqlKind(formulas)]),
    ...(scripts === undefined ? [] : SCRIPT_NAMES.map((name) => new ScriptKind(name, scripts, env))),
    new FirstKind(formulas),
    ...own,
  ]
  return new Kinds(kinds, ({ type, name }) => {
    if (type === 'host') return transport.refusal(name)
    return type === 'process' ? (scripts?.refusal ?? null) : null
  })
}
