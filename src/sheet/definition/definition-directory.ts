import type { Source } from '../../derivation/definition/derivation-kind.ts'
import type { DerivationSource } from '../../derivation/parse-derivation.ts'
import type { DefinitionSource } from './definition-source.ts'
import { DerivationFolder } from './derivation-folder.ts'
import { OtherSheets } from './other-sheets.ts'
import { SourceFiles } from './source-files.ts'
import { TextFile } from './text-file.ts'

/** The definition files of a sheet's directory, which may be edited at any time. */
export class DefinitionDirectory implements DefinitionSource {
  readonly revision = null
  readonly #contract: TextFile
  readonly #folder: DerivationFolder
  readonly #transport: TextFile
  readonly #sources: SourceFiles
  readonly #sheets: OtherSheets

  constructor(directory: string) {
    this.#contract = new TextFile(directory, 'contract.yaml')
    this.#folder = new DerivationFolder(directory)
    this.#transport = new TextFile(directory, 'transport.yaml')
    this.#sources = new SourceFiles(directory)
    this.#sheets = new OtherSheets(directory)
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
    const changed = [this.#folder.refresh(), this.#sources.refresh(), this.#sheets.refresh()]
    return changed.includes(true)
  }

  source(path: string): Source {
    return this.#sources.source(path)
  }

  otherSheet(path: string): Promise<Source> {
    return this.#sheets.sheet(path)
  }

  keepSources(paths: ReadonlySet<string>): void {
    this.#sources.keep(paths)
    this.#sheets.keep(paths)
  }

  transportChanged(): boolean {
    return this.#transport.refresh()
  }
}
