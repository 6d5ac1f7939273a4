import type { Source } from '../../derivation/definition/derivation-kind.ts'
import type { DerivationSource } from '../../derivation/parse-derivation.ts'
import type { DefinitionSource } from './definition-source.ts'
import { sourceOf } from '../../derivation/read-sources.ts'
import { checkFolder } from './derivation-folder.ts'

const FOLDER = 'derivations/'

/** Definition files by their paths; null where there is none. */
export type FileTexts = ReadonlyMap<string, Uint8Array | null>

/** The definition files of a sheet as they would be after a change. Everything else is that of the sheet. */
export class ChangedDefinition implements DefinitionSource {
  readonly #base: DefinitionSource
  readonly #changes: FileTexts

  constructor(base: DefinitionSource, changes: FileTexts) {
    this.#base = base
    this.#changes = changes
  }

  get revision(): number | null {
    return this.#base.revision
  }

  get contract(): Uint8Array | null {
    const changed = this.#changes.get('contract.yaml')
    return changed === undefined ? this.#base.contract : changed
  }

  get transport(): Uint8Array | null {
    return this.#base.transport
  }

  derivations(): readonly DerivationSource[] {
    const files = new Map(this.#base.derivations().map(({ file, bytes }) => [file, bytes]))
    for (const [path, bytes] of this.#changes) {
      if (!path.startsWith(FOLDER)) continue
      const file = path.slice(FOLDER.length)
      if (bytes === null) files.delete(file)
      else files.set(file, bytes)
    }
    const sources = [...files].map(([file, bytes]) => ({ file, bytes }))
    const sorted = sources.toSorted((a, b) => (a.file < b.file ? -1 : 1))
    checkFolder(sorted)
    return sorted
  }

  source(path: string): Source {
    const changed = this.#changes.get(path) ?? null
    return changed === null ? this.#base.source(path) : sourceOf(path, changed)
  }

  otherSheet(path: string): Promise<Source> {
    return this.#base.otherSheet(path)
  }

  /** Keeps all: the sheet itself knows which ones it needs. */
  keepSources(): void {}

  contractChanged(): boolean {
    return false
  }

  derivationsChanged(): boolean {
    return false
  }

  transportChanged(): boolean {
    return false
  }
}
