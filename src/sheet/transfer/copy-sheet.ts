import { ConflictError } from '../../errors/service-error.ts'
import type { StoreSnapshot } from '../../store/sheet-store.ts'
import type { DefinitionFile } from '../definition/definition-files.ts'
import type { Sheet } from '../sheet.ts'

/** Attempts to copy a sheet whose definition changes meanwhile. */
const TRIES = 5

/** A sheet as it was at one moment. */
export interface SheetCopy {
  readonly definitions: readonly DefinitionFile[]
  readonly snapshot: StoreSnapshot
}

/**
 * Copies the store into a directory, as it is at one moment, and returns the definition files that belong to it. Throws
 * ContractError while the contract or a derivation is broken, OperationError while they keep changing.
 */
export async function copySheet(sheet: Sheet, directory: string): Promise<SheetCopy> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { store, contract } = await sheet.deriving()
    const definitions = sheet.definitionFiles()
    const snapshot = await store.snapshot(directory)
    await sheet.deriving()
    const same = isSame(definitions, sheet.definitionFiles())
    // Another process may have applied another contract to the store.
    if (same && snapshot.contractText === contract.text) return { definitions, snapshot }
  }
  throw new ConflictError(
    'the contract or a derivation changed while the sheet was copied; try again',
    'definition_changed',
  )
}

function isSame(before: readonly DefinitionFile[], now: readonly DefinitionFile[]): boolean {
  return (
    before.length === now.length &&
    before.every(({ path, bytes }, index) => {
      const other = now[index]
      return other !== undefined && other.path === path && Buffer.compare(bytes, other.bytes) === 0
    })
  )
}
