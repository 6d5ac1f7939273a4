import type { DerivationSource } from '../../derivation/parse-derivation.ts'
import type { DefinitionSource } from './definition-source.ts'
import { DerivationFolder } from './derivation-folder.ts'
import { TextFile } from './text-file.ts'

/** The definition files of a sheet's directory, which may be edited at any time. */
export class DefinitionDirectory implements DefinitionSource {
  readonly revision = null
  readonly #contract: TextFile
  readonly #folder: DerivationFolder
  readonly #transport: TextFile

  constructor(directory: string) {
    this.#contract = new TextFile(directory, 'contract.yaml')
    this.#folder = new DerivationFolder(directory)
    this.#transport = new TextFile(directory, 'transport.yaml')
  }

  get contract(): Uint8Array | null {
    return this.#contract.bytes
  }

  get transport(): Uint8Array | null {
    return this.#transport.bytes
  }

  derivations(): readonly DerivationSource[] {
    return this.#folder.sources()
  }

  contractChanged(): boolean {
    return this.#contract.refresh()
  }

  derivationsChanged(): boolean {
    return this.#folder.refresh()
  }

  transportChanged(): boolean {
    return this.#transport.refresh()
  }
}
