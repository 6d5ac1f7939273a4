import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract } from '../../contract/contract.ts'
import { checkDeclared, type Derived } from '../../contract/contract-view.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import type { Derivation, Resource, Source } from '../../derivation/definition/derivation-kind.ts'
import { orderDerivations } from '../../derivation/definition/graph.ts'
import { DEFAULT_HOST_POLICIES, type HostPolicies } from '../../derivation/definition/host-policies.ts'
import type { Kinds } from '../../derivation/kinds.ts'
import {
  renameInDerivation,
  renameInTemplateFile,
  type RenamedField,
} from '../../derivation/rename-in-derivation.ts'
import { readSources } from '../../derivation/read-sources.ts'
import { parseDerivation, type DerivationSource } from '../../derivation/parse-derivation.ts'
import { parseTransportFile } from '../../derivation/definition/parse-transport-file.ts'
import { ContractError, fileError } from '../../errors/service-error.ts'
import type { BaseFile } from '../../store/definition-change.ts'
import type { TargetDefinition } from '../../store/sheet-store.ts'
import { ChangedDefinition, type FileTexts } from './changed-definition.ts'
import { definitionText } from './definition-text.ts'
import type { DefinitionSource } from './definition-source.ts'
import { validOrNull } from './valid-or-null.ts'

/** Milliseconds after which other requests are served while files are parsed. */
const PART_MS = 20

/** The derivations of a sheet, in order and checked against each other. */
export interface Derivations {
  /** Each level depends only on earlier ones. */
  readonly levels: readonly (readonly Derivation[])[]
  readonly byTarget: ReadonlyMap<string, Derivation>
  /** The derivation of each target, as the contract shows it. */
  readonly derived: ReadonlyMap<string, Derived>
}

/** A definition file, as it was last read. */
export interface DefinitionFile {
  /** The path relative to the sheet's directory, with `/` between names. */
  readonly path: string
  readonly bytes: Uint8Array
}

/**
 * The definition files of a sheet: `contract.yaml`, `derivations/*.yaml` (D1), and `transport.yaml`, from a directory
 * or a store.
 */
export class DefinitionFiles {
  readonly #source: DefinitionSource
  readonly #kinds: Kinds
  /** The paths of the files that are sources of the derivations as last parsed. */
  #sourcePaths = new Set<string>()
  /** The parsed `transport.yaml`, or why it is broken; null when it is to be read again. */
  #policies: HostPolicies | ContractError | null = null

  constructor(source: DefinitionSource, kinds: Kinds) {
    this.#source = source
    this.#kinds = kinds
  }

  /** Checks for changed files where that takes time; undefined where it takes none. Throws RecordsError. */
  refresh(): Promise<void> | undefined {
    return this.#source.refresh?.()
  }

  /** The revision of the files; null for those of a directory. */
  get revision(): number | null {
    return this.#source.revision
  }

  /**
   * Returns the policies of `transport.yaml`: in a directory as it is now, of a revision as it was last read. Throws
   * ContractError.
   */
  policies(): HostPolicies {
    if (this.#source.transportChanged()) this.#policies = null
    this.#policies ??= readPolicies(this.#source)
    if (this.#policies instanceof ContractError) throw this.#policies
    return this.#policies
  }

  /** Whether `contract.yaml` has changed since the last call. */
  contractChanged(): boolean {
    return this.#source.contractChanged()
  }

  /** Whether the derivation files have changed since the last call. */
  derivationsChanged(): boolean {
    return this.#source.derivationsChanged()
  }

  /** Parses `contract.yaml` as it was last read. Throws ContractError. */
  contract(): Contract {
    const bytes = this.#source.contract
    if (bytes === null) throw contractError('is missing; put it back into the sheet', 'contract_missing')
    return parseContract(textOf(bytes))
  }

  /**
   * Returns all files as last read, and `transport.yaml` as it is now. Throws ContractError for one that cannot be
   * read.
   */
  all(): DefinitionFile[] {
    // The policies must match the file that is returned here.
    if (this.#source.transportChanged()) this.#policies = null
    const file = (path: string, bytes: Uint8Array | null): DefinitionFile[] =>
      bytes === null ? [] : [{ path, bytes }]
    const sources = [...this.#sourcePaths].flatMap((path) => file(path, this.#source.source(path).bytes))
    return [
      ...file('contract.yaml', this.#source.contract),
      ...file('transport.yaml', this.#source.transport),
      ...this.#source
        .derivations()
        .map((source) => ({ path: `derivations/${source.file}`, bytes: source.bytes })),
      ...sources,
    ]
  }

  /**
   * Parses the derivation files as last read, checks them against each other, and reads their sources. Throws ContractError, but not
   * because of a source, for which cells fail.
   */
  async derivations(contract: Contract): Promise<Derivations> {
    const parsed: Derivation[] = []
    let since = performance.now()
    for (const source of this.#source.derivations()) {
      parsed.push(this.#parse(source, contract))
      if (performance.now() - since < PART_MS) continue
      await nextTurn()
      since = performance.now()
    }
    checked(parsed, contract)
    this.#sourcePaths = new Set(parsed.flatMap(({ sourcePaths }) => sourcePaths))
    const sheetPaths = parsed.flatMap((derivation) => derivation.sheetPaths)
    this.#source.keepSources(new Set([...this.#sourcePaths, ...sheetPaths]))
    const read: Derivation[] = []
    for (const derivation of parsed) {
      read.push(await readSources(derivation, this.#source))
    }
    return checked(read, contract)
  }

  /**
   * Returns `contract.yaml` and the derivation files as last read, by their paths, and those of `more` that exist. Throws ContractError for
   * those that cannot be read.
   */
  texts(more: readonly string[] = []): ReadonlyMap<string, Uint8Array> {
    const { contract } = this.#source
    return new Map([
      ...more.flatMap((path) => {
        const { bytes } = this.#source.source(path)
        return bytes === null ? [] : [[path, bytes] as const]
      }),
      ...(contract === null ? [] : [['contract.yaml', contract] as const]),
      ...this.#source.derivations().map(({ file, bytes }) => [`derivations/${file}`, bytes] as const),
    ])
  }

  /**
   * Returns the derivation files that name a field, and the files of their prompts, with their texts for its other name. Throws ContractError
   * and OperationError as {@link renameInDerivation} does.
   */
  renamed(rename: RenamedField): readonly DefinitionFile[] {
    const edited = new Map<string, Uint8Array>()
    const edit = (path: string, bytes: Uint8Array, textAfter: (text: string) => string): void => {
      const { text, encode } = definitionText(bytes, path)
      const after = textAfter(text)
      if (after !== text) edited.set(path, encode(after))
    }
    const templates = new Set<string>()
    for (const { file, bytes } of this.#source.derivations()) {
      const path = `derivations/${file}`
      edit(path, bytes, (text) => {
        const renamed = renameInDerivation({ file: path, text }, rename, this.#kinds)
        for (const template of renamed.templates) templates.add(template)
        return renamed.text
      })
    }
    for (const path of templates) {
      const { bytes } = this.#source.source(path)
      if (bytes !== null) edit(path, bytes, (text) => renameInTemplateFile(text, rename))
    }
    return [...edited].map(([path, bytes]) => ({ path, bytes }))
  }

  /** Returns the files that a store compares with a directory, as they were last read; null for those of a store. */
  base(): readonly BaseFile[] | null {
    if (this.revision !== null) return null
    const texts = validOrNull(() => [...this.texts()])
    return texts === null ? null : texts.map(([path, bytes]) => ({ path, sha256: hashOf(bytes) }))
  }

  /** Returns the definition as it would be after a change of these files. */
  withChanges(changes: FileTexts): DefinitionFiles {
    return new DefinitionFiles(new ChangedDefinition(this.#source, changes), this.#kinds)
  }

  /** Returns the first error of each file as it is now. Derivations are parsed only when the contract is valid. */
  faults(): readonly ContractError[] {
    this.contractChanged()
    this.derivationsChanged()
    const faults: ContractError[] = []
    const attempt = <T>(read: () => T): T | null => {
      try {
        return read()
      } catch (error) {
        if (!(error instanceof ContractError)) throw error
        // Derivations share models.yaml.
        if (!faults.some(({ message }) => message === error.message)) faults.push(error)
        return null
      }
    }
    const contract = attempt(() => this.contract())
    if (contract !== null) {
      const sources = attempt(() => this.#source.derivations())
      const parsed = sources?.map((source) => attempt(() => this.#parse(source, contract)))
      const valid = parsed?.filter((derivation) => derivation !== null)
      // Errors between files are reported once each file by itself is valid.
      if (valid !== undefined && valid.length === parsed?.length) attempt(() => checked(valid, contract))
    }
    attempt(() => this.policies())
    return faults
  }

  /** Returns the reason why this machine does not allow a resource; null when it does. */
  refusalOf(resource: Resource): string | null {
    return this.#kinds.refusalOf([resource])
  }

  /** Parses a derivation file on its own. Throws ContractError. */
  parse(source: DerivationSource, contract: Contract): Derivation {
    const read = (path: string): Source => this.#source.source(path)
    return parseDerivation({ ...source, read }, contract, this.#kinds)
  }

  /** Parses a derivation file on its own and reads its sources as they are now. Throws ContractError. */
  readAlone(source: DerivationSource, contract: Contract): Promise<Derivation> {
    return readSources(this.parse(source, contract), this.#source)
  }

  /** Parses a derivation file of the definition, whose sources belong to it even if the file is not valid. */
  #parse(source: DerivationSource, contract: Contract): Derivation {
    const read = (path: string): Source => {
      this.#sourcePaths.add(path)
      return this.#source.source(path)
    }
    return parseDerivation({ ...source, read }, contract, this.#kinds)
  }

  /** Closes the source. */
  async close(): Promise<void> {
    await this.#source.close?.()
  }
}

/** Orders derivations. Throws ContractError for an error between them. */
function checked(parsed: readonly Derivation[], contract: Contract): Derivations {
  const levels = orderDerivations(parsed)
  const byTarget = new Map(
    parsed.flatMap((derivation) => derivation.targets.map((target) => [target, derivation])),
  )
  const derived = new Map([...byTarget].map(([target, derivation]) => [target, describe(derivation)]))
  checkDeclared(contract, derived)
  return { levels, byTarget, derived }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
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
    throw contractError('is not valid UTF-8; save it as UTF-8', 'invalid_definition')
  }
}

function contractError(message: string, code: 'contract_missing' | 'invalid_definition'): ContractError {
  return new ContractError(...fileError({ file: 'contract.yaml', line: null, message }, code))
}

/** Returns the targets of the derivations as the store needs them. */
export function targetDefinitions({ levels }: Derivations): TargetDefinition[] {
  return levels
    .flat()
    .flatMap(
      ({
        targets,
        file: derivation,
        sha256,
        kind: { name: kind, stepsOf },
        inputs,
        sources,
        text,
        ...derivationOf
      }) => {
        const { requiredInputs: required, nonEmptyInputs: nonEmpty, reads } = derivationOf
        return targets.map((field) => ({
          field,
          derivation,
          sha256,
          kind,
          inputs,
          required,
          nonEmpty,
          sources,
          isChecked: stepsOf !== undefined,
          reads,
          text,
        }))
      },
    )
}
