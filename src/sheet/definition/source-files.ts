import { MAX_SOURCE_BYTES, MAX_SOURCES_BYTES } from '../../derivation/definition/source-path.ts'
import type { Source } from '../../derivation/definition/derivation-kind.ts'
import { sourceOf } from '../../derivation/read-sources.ts'
import { ContractError } from '../../errors/service-error.ts'
import { TextFile } from './text-file.ts'

interface SourceFile {
  readonly file: TextFile
  /** The source that was read last; the same object while the content is the same. */
  source: Source
}

/** The files of a sheet's directory that derivations read as sources, which may be edited at any time. */
export class SourceFiles {
  readonly #directory: string
  #files = new Map<string, SourceFile>()

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Reads the files that have changed; whether there are any. */
  refresh(): boolean {
    let changed = false
    for (const [path, known] of this.#files) {
      if (!known.file.refresh()) continue
      known.source = this.#read(path, known.file)
      changed = true
    }
    return changed
  }

  /** Returns a file as last read, or reads it; from then on {@link refresh} covers it. */
  source(path: string): Source {
    const known = this.#files.get(path)
    if (known !== undefined) return known.source
    const file = new TextFile(this.#directory, path, checkSize)
    file.refresh()
    const source = this.#read(path, file)
    this.#files.set(path, { file, source })
    return source
  }

  /** Forgets all files but these. */
  keep(paths: ReadonlySet<string>): void {
    this.#files = new Map([...this.#files].filter(([path]) => paths.has(path)))
  }

  #read(path: string, file: TextFile): Source {
    try {
      const { bytes } = file
      if (bytes === null) return sourceOf(path, { problem: `${path} does not exist` })
      const others = [...this.#files].map(
        ([
          other,
          {
            file: { size },
          },
        ]) => (other === path ? 0 : size),
      )
      if (others.reduce((sum, size) => sum + size, file.size) > MAX_SOURCES_BYTES) {
        return sourceOf(path, { problem: `${path}: ${tooLarge('the sources together', MAX_SOURCES_BYTES)}` })
      }
      return sourceOf(path, bytes)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      return sourceOf(path, { problem: error.message })
    }
  }
}

function checkSize(bytes: number, name: string): void {
  if (bytes > MAX_SOURCE_BYTES) throw new ContractError(`${name}: ${tooLarge('the file', MAX_SOURCE_BYTES)}`)
}

function tooLarge(what: string, bytes: number): string {
  return `${what} cannot be larger than ${bytes / 1024 / 1024} MiB`
}
