import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { hashesOfValues } from '../../derivation/hash/hash-of-values.ts'
import type { CellHash, Deletion, DeletionRef, RecordToRestore, SheetStore } from '../../store/sheet-store.ts'

/** Records whose values are read and hashed before the event loop may handle other requests. */
const RECORDS_AT_ONCE = 20

/** Returns deleted records with the input hashes that the present derivations give for the values that they had. */
export async function withHashes(
  store: SheetStore,
  derivations: readonly Derivation[],
  refs: readonly DeletionRef[],
): Promise<RecordToRestore[]> {
  if (derivations.length === 0) return refs.map((ref) => ({ ...ref, hashes: [] }))
  const records: RecordToRestore[] = []
  for (let start = 0; start < refs.length; start += RECORDS_AT_ONCE) {
    if (start > 0) await nextTurn()
    const some = refs.slice(start, start + RECORDS_AT_ONCE)
    const deletions = await store.deletions(some)
    some.forEach((ref, index) => {
      const deletion = deletions[index] ?? null
      const hashes = deletion === null ? [] : hashesOf(deletion, derivations)
      records.push({ recordId: ref.recordId, seq: deletion?.seq ?? ref.seq, hashes })
    })
  }
  return records
}

function hashesOf({ values }: Deletion, derivations: readonly Derivation[]): CellHash[] {
  return derivations.flatMap((derivation) => {
    const { sha256, targets } = derivation
    const valid = hashesOfValues(derivation, values)?.valid ?? []
    return targets.flatMap((field) => valid.map((inputHash) => ({ field, sha256, inputHash })))
  })
}
