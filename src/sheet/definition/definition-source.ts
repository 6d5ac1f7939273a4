import type { Source } from '../../derivation/definition/derivation-kind.ts'
import type { DerivationSource } from '../../derivation/parse-derivation.ts'

/**
 * The place that definition files are read from. All members but `refresh` describe the files as they were last read.
 */
export interface DefinitionSource {
  /** The revision of the files; null for a directory, which has none. */
  readonly revision: number | null
  /** The bytes of `contract.yaml`, null when it does not exist. Throws ContractError when it cannot be read. */
  readonly contract: Uint8Array | null
  /** The bytes of `transport.yaml`, null when it does not exist. Throws ContractError when it cannot be read. */
  readonly transport: Uint8Array | null
  /** Returns the derivation files, sorted by name. Throws ContractError. */
  derivations(): readonly DerivationSource[]

  /**
   * Returns a file on whose content results depend: the same object while its content is the same. From then on `derivationsChanged` covers it.
   */
  source(path: string): Source
  /** Returns another sheet, as {@link source} does a file: the same object while its records are the same. Never rejects because of it. */
  otherSheet(path: string): Promise<Source>
  /** Forgets all such files and sheets but these. */
  keepSources(paths: ReadonlySet<string>): void

  /** Checks for changed files; absent where the methods below check for themselves. Throws RecordsError. */
  refresh?(): Promise<void>
  /** Whether `contract.yaml` has changed since the last call; true the first time. */
  contractChanged(): boolean
  /** Whether the derivation files have changed since the last call; true the first time. */
  derivationsChanged(): boolean
  /** Whether `transport.yaml` has changed since the last call; true the first time. */
  transportChanged(): boolean

  /** Releases its resources. */
  close?(): Promise<void>
}
