import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { hashesOfValues } from '../../derivation/hash/hash-of-values.ts'
import type { WorkItem } from '../../store/cell-work.ts'
import type { CellFailureNote, SheetStore } from '../../store/sheet-store.ts'

/** Changes of the definition that are read at a time. */
const CHUNK = 200

/** The last changes of the definition files of a store. */
export class DefinitionChanges {
  /** The time of the last change of each file, by its path. */
  readonly #last: ReadonlyMap<string, string>

  private constructor(last: ReadonlyMap<string, string>) {
    this.#last = last
  }

  static async read(store: SheetStore): Promise<DefinitionChanges> {
    const last = new Map<string, string>()
    for (let before: string | null = null; ;) {
      const changes = await store.definitionChanges({ before, limit: CHUNK })
      for (const { at, files } of changes) {
        for (const { path } of files) if (!last.has(path)) last.set(path, at)
      }
      before = changes.at(-1)?.id ?? null
      if (before === null) return new DefinitionChanges(last)
    }
  }

  /** Whether the derivation of a failed cell, a file that this reads, or the contract is another than when it failed. */
  since({ at, inputHash }: CellFailureNote, derivation: Derivation, item: WorkItem): boolean {
    const files = ['contract.yaml', `derivations/${derivation.file}`]
    if (files.some((path) => (this.#last.get(path) ?? '') > at)) return true
    // Only failures that last have a hash; that of a formula names the engine, and that of a query depends on other records.
    const hasHash =
      derivation.formulas.length === 0 && derivation.reads === null && item.tooLong === undefined
    return hasHash && inputHash !== undefined && hashesOfValues(derivation, item.inputs)?.whole !== inputHash
  }
}
