import type { Contract } from '../../contract/contract.ts'
import { checkDeclared, type Derived } from '../../contract/contract-view.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { orderDerivations } from '../../derivation/definition/graph.ts'
import { DEFAULT_HOST_POLICIES, type HostPolicies } from '../../derivation/definition/host-policies.ts'
import type { Kinds } from '../../derivation/kinds.ts'
import { parseDerivation, type DerivationSource } from '../../derivation/parse-derivation.ts'
import { parseTransportFile } from '../../derivation/definition/parse-transport-file.ts'
import { ContractError } from '../../errors/service-error.ts'
import type { TargetDefinition } from '../../store/sheet-store.ts'
import type { DefinitionSource } from './definition-source.ts'

/** The derivations of a sheet, in order and checked against each other. */
export interface Derivations {
  /** Each level depends only on earlier ones. */
  readonly levels: readonly (readonly Derivation[])[]
  readonly byTarget: ReadonlyMap<string, Derivation>
  /** What the contract's readers are told of each target. */
  readonly derived: ReadonlyMap<string, Derived>
}

/** A file that says what a sheet is, as it was last looked at. */
export interface DefinitionFile {
  /** In the sheet's directory, with `/` between names. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** The files that say what a sheet is: `contract.yaml`, `derivations/*.yaml` (D1), and `transport.yaml`, wherever they are. */
export class DefinitionFiles {
  readonly #source: DefinitionSource
  readonly #kinds: Kinds
  /** What the file came to when it was last read. */
  #policies: HostPolicies | ContractError | null = null

  constructor(source: DefinitionSource, kinds: Kinds) {
    this.#source = source
    this.#kinds = kinds
  }

  /** Sees whether the files are others by now, where that takes time; undefined where it takes none. Throws RecordsError. */
  look(): Promise<void> | undefined {
    return this.#source.look?.()
  }

  /** Which revision the files as last looked at are; null for those of a directory. */
  get revision(): number | null {
    return this.#source.revision
  }

  /** What `transport.yaml` says, as it is now, or, of a revision, as it was last looked at. Throws ContractError. */
  policies(): HostPolicies {
    if (this.#source.transportChanged()) this.#policies = null
    this.#policies ??= readPolicies(this.#source)
    if (this.#policies instanceof ContractError) throw this.#policies
    return this.#policies
  }

  /** Whether `contract.yaml` is another than when this was last asked. */
  contractChanged(): boolean {
    return this.#source.contractChanged()
  }

  /** Whether the derivation files are others than when this was last asked. */
  derivationsChanged(): boolean {
    return this.#source.derivationsChanged()
  }

  /** Parses `contract.yaml` as last looked at. Throws ContractError. */
  contract(): Contract {
    const bytes = this.#source.contract
    if (bytes === null) throw new ContractError('contract.yaml is missing; put it back into the sheet')
    return parseContract(textOf(bytes))
  }

  /** All of them as last looked at; `transport.yaml` as it is now. Throws ContractError for one that cannot be read. */
  all(): DefinitionFile[] {
    // The policies follow what is looked at here.
    if (this.#source.transportChanged()) this.#policies = null
    const file = (path: string, bytes: Uint8Array | null): DefinitionFile[] =>
      bytes === null ? [] : [{ path, bytes }]
    return [
      ...file('contract.yaml', this.#source.contract),
      ...file('transport.yaml', this.#source.transport),
      ...this.#source
        .derivations()
        .map((source) => ({ path: `derivations/${source.file}`, bytes: source.bytes })),
    ]
  }

  /** Parses the derivation files as last looked at. Throws ContractError. */
  derivations(contract: Contract): Derivations {
    const parsed = this.#source.derivations().map((source) => this.parse(source, contract))
    const levels = orderDerivations(parsed)
    const byTarget = new Map(
      parsed.flatMap((derivation) => derivation.targets.map((target) => [target, derivation])),
    )
    const derived = new Map([...byTarget].map(([target, derivation]) => [target, describe(derivation)]))
    checkDeclared(contract, derived)
    return { levels, byTarget, derived }
  }

  /** What is wrong with the files as they are now: of each file its first fault. Derivations need a contract to be read. */
  faults(): readonly ContractError[] {
    this.contractChanged()
    this.derivationsChanged()
    const faults: ContractError[] = []
    const attempt = <T>(read: () => T): T | null => {
      try {
        return read()
      } catch (error) {
        if (!(error instanceof ContractError)) throw error
        faults.push(error)
        return null
      }
    }
    const contract = attempt(() => this.contract())
    if (contract !== null) {
      const sources = attempt(() => this.#source.derivations())
      const parsed = sources?.map((source) => attempt(() => this.parse(source, contract)))
      // What is wrong between files is looked at when nothing is within one.
      if (parsed?.includes(null) === false) attempt(() => this.derivations(contract))
    }
    attempt(() => this.policies())
    return faults
  }

  /** Parses a derivation file on its own. Throws ContractError. */
  parse(source: DerivationSource, contract: Contract): Derivation {
    return parseDerivation(source, contract, this.#kinds)
  }

  /** Lets go of where they are. */
  async close(): Promise<void> {
    await this.#source.close?.()
  }
}

function readPolicies(source: DefinitionSource): HostPolicies | ContractError {
  try {
    const bytes = source.transport
    return bytes === null ? DEFAULT_HOST_POLICIES : parseTransportFile(bytes)
  } catch (error) {
    if (error instanceof ContractError) return error
    throw error
  }
}

function describe({ file, kind, inputs }: Derivation): Derived {
  return { derivation: file, kind: kind.name, inputs }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ContractError('contract.yaml is not valid UTF-8; save it as UTF-8')
  }
}

/** What the store needs to know of derivations. */
export function targetDefinitions({ levels }: Derivations): TargetDefinition[] {
  return levels
    .flat()
    .flatMap(({ targets, file: derivation, sha256, kind: { name: kind }, inputs, text, ...derivationOf }) => {
      const { requiredInputs: required, nonEmptyInputs: nonEmpty } = derivationOf
      return targets.map((field) => ({ field, derivation, sha256, kind, inputs, required, nonEmpty, text }))
    })
}
