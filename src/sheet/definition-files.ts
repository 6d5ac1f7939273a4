import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '../contract/contract.ts'
import { checkDeclared, type Derived } from '../contract/contract-view.ts'
import { parseContract } from '../contract/parse-contract.ts'
import type { Derivation } from '../derivation/derivation-kind.ts'
import { orderDerivations } from '../derivation/graph.ts'
import { DEFAULT_HOST_POLICIES, type HostPolicies } from '../derivation/host-policies.ts'
import type { Kinds } from '../derivation/kinds.ts'
import { parseDerivation, type DerivationSource } from '../derivation/parse-derivation.ts'
import { parseTransportFile } from '../derivation/parse-transport-file.ts'
import { ContractError } from '../errors/service-error.ts'
import type { TargetDefinition } from '../store/sheet-store.ts'
import { TextFile } from './text-file.ts'

/** The derivations of a sheet, in order and checked against each other. */
export interface Derivations {
  /** Each level depends only on earlier ones. */
  readonly levels: readonly (readonly Derivation[])[]
  readonly byTarget: ReadonlyMap<string, Derivation>
  /** What the contract's readers are told of each target. */
  readonly derived: ReadonlyMap<string, Derived>
}

/** The files that say what a sheet is: `contract.yaml`, `derivations/*.yaml` (D1), and `transport.yaml`. */
export class DefinitionFiles {
  readonly #contract: TextFile
  readonly #folder: string
  readonly #transport: TextFile
  readonly #kinds: Kinds
  #policies: HostPolicies | null = null
  #derivations = new Map<string, TextFile>()
  #names = ''

  constructor(directory: string, kinds: Kinds) {
    this.#contract = new TextFile(join(directory, 'contract.yaml'), 'contract.yaml')
    this.#folder = join(directory, 'derivations')
    this.#transport = new TextFile(join(directory, 'transport.yaml'), 'transport.yaml')
    this.#kinds = kinds
  }

  /** What `transport.yaml` says, as it is now. Throws ContractError. */
  policies(): HostPolicies {
    if (this.#transport.refresh()) this.#policies = null
    const { bytes } = this.#transport
    return (this.#policies ??= bytes === null ? DEFAULT_HOST_POLICIES : parseTransportFile(bytes))
  }

  /** Whether `contract.yaml` is another than when this was last asked. */
  contractChanged(): boolean {
    return this.#contract.refresh()
  }

  /** Whether the derivation files are others than when this was last asked. */
  derivationsChanged(): boolean {
    const names = derivationNames(this.#folder)
    let changed = names.join('/') !== this.#names
    if (changed) {
      const before = this.#derivations
      this.#derivations = new Map(
        names.map((name) => [
          name,
          before.get(name) ?? new TextFile(join(this.#folder, name), `derivations/${name}`),
        ]),
      )
      this.#names = names.join('/')
    }
    for (const file of this.#derivations.values()) changed = file.refresh() || changed
    return changed
  }

  /** Parses `contract.yaml` as last looked at. Throws ContractError. */
  contract(): Contract {
    const { bytes } = this.#contract
    if (bytes === null) throw new ContractError('contract.yaml is missing; put it back into the sheet')
    return parseContract(textOf(bytes))
  }

  /** Parses the derivation files as last looked at. Throws ContractError. */
  derivations(contract: Contract): Derivations {
    const parsed = [...this.#derivations].flatMap(([file, { bytes }]) =>
      bytes === null ? [] : [this.parse({ file, bytes }, contract)],
    )
    const levels = orderDerivations(parsed)
    const byTarget = new Map(
      parsed.flatMap((derivation) => derivation.targets.map((target) => [target, derivation])),
    )
    const derived = new Map([...byTarget].map(([target, derivation]) => [target, describe(derivation)]))
    checkDeclared(contract, derived)
    return { levels, byTarget, derived }
  }

  /** Parses a derivation file on its own. Throws ContractError. */
  parse(source: DerivationSource, contract: Contract): Derivation {
    return parseDerivation(source, contract, this.#kinds)
  }
}

function describe({ file, kind, inputs }: Derivation): Derived {
  return { derivation: file, kind: kind.name, inputs }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ContractError('contract.yaml is not valid UTF-8; save it as UTF-8')
  }
}

/** The names of `*.yaml`, which as in a shell does not mean hidden files (D1). */
function derivationNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
      .toSorted()
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return []
    throw error
  }
}

/** What the store needs to know of derivations. */
export function targetDefinitions({ levels }: Derivations): TargetDefinition[] {
  return levels
    .flat()
    .flatMap(({ targets, file, sha256, kind, inputs, text }) =>
      targets.map((field) => ({ field, derivation: file, sha256, kind: kind.name, inputs, text })),
    )
}
