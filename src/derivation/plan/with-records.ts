import type { Derivation, InputValues, RecordsContext } from '../definition/derivation-kind.ts'

/**
 * Returns a derivation with what computations for these inputs take from other records, and the version of that; the same one if it takes
 * nothing. Call it before {@link planComputation} for a derivation that reads all records.
 */
export async function withRecords(
  derivation: Derivation,
  inputs: readonly InputValues[],
  context: RecordsContext,
): Promise<Derivation> {
  const { kind, reads } = derivation
  if (kind.withRecords === undefined || reads === null) return derivation
  const { spec, version } = await kind.withRecords(derivation.spec, inputs, context)
  return { ...derivation, spec, sources: version }
}
