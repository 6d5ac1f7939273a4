import type { Derivation } from '../../../derivation/definition/derivation-kind.ts'
import { countOutdated } from '../../../derivation/plan/check-sources.ts'
import { ContractError } from '../../../errors/service-error.ts'
import type { OutdatedCount } from '../../../store/definition-change.ts'
import type { FieldChanges } from '../../../store/field-changes.ts'
import type { DerivingSheet, Sheet } from '../../sheet.ts'
import type { Derivations } from '../definition-files.ts'

/** The most records whose cells are counted: each is planned. */
const MOST_RECORDS = 20_000

/**
 * Counts the cells, by the names of their fields after a change, that become stale only when they are compared with the changed derivations:
 * those of kinds with steps. Empty for a sheet of more than 20,000 records, and while the present definition is not valid. Throws
 * RecordsError.
 */
export async function outdatedAfter(
  sheet: Sheet,
  after: Derivations,
  changes: Omit<FieldChanges, 'actor'> | undefined,
): Promise<ReadonlyMap<string, OutdatedCount>> {
  const found = new Map<string, OutdatedCount>()
  const compared = after.levels.flat().filter(({ kind }) => kind.stepsOf !== undefined)
  const present = compared.length === 0 ? null : await presentSheet(sheet)
  if (present === null || (await present.store.status()).total > MOST_RECORDS) return found
  const { contract, store, derivations } = present
  const namesBefore = new Map(Array.from(changes?.renamed ?? [], ([from, to]) => [to, from]))
  const before = (names: readonly string[]): ReadonlyMap<string, string> =>
    new Map(
      names
        .map((name) => [name, namesBefore.get(name) ?? name] as const)
        .filter(([, name]) => contract.fieldByName.has(name) && changes?.removed.has(name) !== true),
    )
  for (const derivation of compared) {
    const targets = [...before(derivation.targets)].filter(([, earlier]) =>
      isCompared(derivations.byTarget.get(earlier), derivation),
    )
    if (targets.length === 0) continue
    const inputs = before(derivation.inputs)
    const converted = [...inputs]
      .filter(([name]) => changes?.converted.has(name))
      .map(([, earlier]) => earlier)
    const counts = await countOutdated(store, {
      derivation,
      targets: new Map(targets),
      inputs,
      converted: new Set(converted),
    })
    for (const [name, count] of counts) found.set(name, count)
  }
  return found
}

/** Whether the cells of a field keep their states until they are compared with its changed derivation. */
function isCompared(present: Derivation | undefined, { sources }: Derivation): boolean {
  return present !== undefined && present.sources !== sources
}

async function presentSheet(sheet: Sheet): Promise<DerivingSheet | null> {
  try {
    return await sheet.deriving()
  } catch (error) {
    if (error instanceof ContractError) return null
    throw error
  }
}
