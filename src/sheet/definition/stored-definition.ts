import type { Source } from '../../derivation/definition/derivation-kind.ts'
import type { DerivationSource } from '../../derivation/parse-derivation.ts'
import { sourceOf } from '../../derivation/read-sources.ts'
import type { Revision, RevisionStore } from '../../store/revision-store.ts'
import type { DefinitionSource } from './definition-source.ts'

const FOLDER = 'derivations/'

const NO_DIRECTORY =
  'a sheet in PostgreSQL has no sheets beside it; put a table of their records into this sheet, and use kind import'

type Part = 'contract' | 'derivations' | 'transport'

/** The definition files that a store has: those of the revision that was in force when they were last read. */
export class StoredDefinition implements DefinitionSource {
  readonly #revisions: RevisionStore
  #revision: Revision
  #sources = new Map<string, Source>()
  readonly #changed = new Set<Part>(['contract', 'derivations', 'transport'])

  private constructor(revisions: RevisionStore, revision: Revision) {
    this.#revisions = revisions
    this.#revision = revision
  }

  /** Reads the newest revision. Throws RecordsError. */
  static async read(revisions: RevisionStore): Promise<StoredDefinition> {
    return new StoredDefinition(revisions, await revisions.read(await revisions.newest()))
  }

  get revision(): number {
    return this.#revision.number
  }

  get contract(): Uint8Array | null {
    return this.#bytes('contract.yaml')
  }

  get transport(): Uint8Array | null {
    return this.#bytes('transport.yaml')
  }

  derivations(): readonly DerivationSource[] {
    return this.#revision.files.flatMap(({ path, bytes }) =>
      path.startsWith(FOLDER) ? [{ file: path.slice(FOLDER.length), bytes }] : [],
    )
  }

  source(path: string): Source {
    const source = sourceOf(path, this.#bytes(path) ?? { problem: `${path} does not exist` })
    const known = this.#sources.get(path)
    if (known?.version === source.version) return known
    this.#sources.set(path, source)
    return source
  }

  async otherSheet(path: string): Promise<Source> {
    return sourceOf(path, { problem: `${path} cannot be read: ${NO_DIRECTORY}` })
  }

  keepSources(paths: ReadonlySet<string>): void {
    this.#sources = new Map([...this.#sources].filter(([path]) => paths.has(path)))
  }

  async refresh(): Promise<void> {
    const newest = await this.#revisions.newest()
    if (newest === this.#revision.number) return
    const revision = await this.#revisions.read(newest)
    // A concurrent call may have read a later one.
    if (revision.number <= this.#revision.number) return
    this.#revision = revision
    for (const part of ['contract', 'derivations', 'transport'] as const) this.#changed.add(part)
  }

  contractChanged(): boolean {
    return this.#changed.delete('contract')
  }

  derivationsChanged(): boolean {
    return this.#changed.delete('derivations')
  }

  transportChanged(): boolean {
    return this.#changed.delete('transport')
  }

  close(): Promise<void> {
    return this.#revisions.close()
  }

  #bytes(wanted: string): Uint8Array | null {
    return this.#revision.files.find(({ path }) => path === wanted)?.bytes ?? null
  }
}
