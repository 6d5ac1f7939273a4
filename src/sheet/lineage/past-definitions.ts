import type { Contract } from '../../contract/contract.ts'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import type { ChangeTexts } from '../../store/definition-change.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { DefinitionFiles } from '../definition/definition-files.ts'
import { validOrNull } from '../definition/valid-or-null.ts'
import type { Sheet } from '../sheet.ts'

/** The definition of a sheet at a time. Sources of the derivations are not read. */
export interface PastDefinition {
  readonly contract: Contract
  readonly derivations: readonly Derivation[]
}

/** Changes of the history that are read at once. */
const CHANGES_AT_ONCE = 200

const FOLDER = 'derivations/'

/** The definitions that a sheet has had, from its history, one after the other. */
export class PastDefinitions {
  readonly #files: DefinitionFiles
  /** The changes that are not applied, the next one last. */
  readonly #changes: ChangeTexts[]
  /** The files that differ from the present ones; null where there was none. */
  readonly #texts = new Map<string, Uint8Array | null>()
  /** The files whose text is no longer kept. */
  readonly #lost = new Set<string>()
  /** The definition that was read last; undefined if a change was applied since. */
  #last: PastDefinition | null | undefined

  private constructor(files: DefinitionFiles, changes: ChangeTexts[]) {
    this.#files = files
    this.#changes = changes
    for (const { files: changed } of changes)
      for (const { path, before, bytesBefore } of changed) this.#set(path, before, bytesBefore)
  }

  /** Reads the history of a sheet. Throws as {@link Sheet.definition} does. */
  static async read(sheet: Sheet): Promise<PastDefinitions> {
    const { store, files } = await sheet.definition()
    return new PastDefinitions(files, await readChanges(store))
  }

  /**
   * Returns the definition that was in force at a time (ISO 8601, UTC), which is not before that of the last call; null where a text is no
   * longer kept, or is not valid.
   */
  at(time: string): PastDefinition | null {
    for (let next = this.#changes.at(-1); next !== undefined && next.change.at <= time;) {
      for (const { path, after, bytesAfter } of next.files) this.#set(path, after, bytesAfter)
      this.#last = undefined
      this.#changes.pop()
      next = this.#changes.at(-1)
    }
    if (this.#last === undefined) this.#last = this.#lost.size > 0 ? null : validOrNull(() => this.#parse())
    return this.#last
  }

  #set(path: string, hash: string | null, bytes: Uint8Array | null): void {
    this.#texts.set(path, bytes)
    if (hash !== null && bytes === null) this.#lost.add(path)
    else this.#lost.delete(path)
  }

  #parse(): PastDefinition {
    const files = this.#files.withChanges(this.#texts)
    const contract = files.contract()
    const derivations = [...files.texts()].flatMap(([path, bytes]) =>
      path.startsWith(FOLDER) ? [files.parse({ file: path.slice(FOLDER.length), bytes }, contract)] : [],
    )
    return { contract, derivations }
  }
}

/** Reads all changes of the definition, newest first. */
async function readChanges(store: SheetStore): Promise<ChangeTexts[]> {
  const found: ChangeTexts[] = []
  for (let before: string | null = null; ;) {
    const changes = await store.definitionChanges({ before, limit: CHANGES_AT_ONCE })
    for (const { id } of changes) {
      const texts = await store.definitionChange(id)
      if (texts !== null) found.push(texts)
    }
    before = changes.at(-1)?.id ?? null
    if (before === null) return found
  }
}
