import type { DerivationSource } from '../../derivation/parse-derivation.ts'

/** Where the files are that say what a sheet is. All but `look` is about the files as they were last looked at. */
export interface DefinitionSource {
  /** Which revision they are; null where they are in a directory, which has none. */
  readonly revision: number | null
  /** The bytes of `contract.yaml`, null where there is none. Throws ContractError for what cannot be read. */
  readonly contract: Uint8Array | null
  /** The bytes of `transport.yaml`; likewise. */
  readonly transport: Uint8Array | null
  /** The derivation files, in the order of their names. Throws ContractError. */
  derivations(): readonly DerivationSource[]

  /**
   * Sees whether the files are others by now, where that takes time; absent where the questions below see for themselves.
   * Throws RecordsError.
   */
  look?(): Promise<void>
  /** Whether `contract.yaml` is another than when this was last asked; true the first time. */
  contractChanged(): boolean
  /** The same for the derivation files. */
  derivationsChanged(): boolean
  /** The same for `transport.yaml`. */
  transportChanged(): boolean

  /** Lets go of what it holds. */
  close?(): Promise<void>
}
