import { showValue } from '../../contract/json/show-value.ts'
import { dependenciesOf } from '../../derivation/definition/graph.ts'
import { SheetError } from '../../errors/service-error.ts'
import type { Derivation, Resource } from '../../derivation/definition/derivation-kind.ts'
import type { Sheet } from '../sheet.ts'

/** A derivation file and its parsed parts. */
export interface DerivationReport {
  readonly file: string
  readonly kind: string
  readonly targets: readonly string[]
  /** Fields whose change makes the targets stale, including those that only placeholders name. */
  readonly inputs: readonly string[]
  /** The resources that computations touch. */
  readonly resources: readonly Resource[]
  readonly text: string
}

/** Lists the derivations of the sheet, each after those it depends on. Throws ContractError. */
export async function readDerivations(sheet: Sheet): Promise<readonly DerivationReport[]> {
  const { derivations } = await sheet.defined()
  return derivations.levels.flat().map(describe)
}

/** Reads a derivation by its file name. Throws ContractError, and SheetError when it does not exist. */
export async function readDerivation(sheet: Sheet, file: string): Promise<DerivationReport> {
  const all = await readDerivations(sheet)
  const found = all.find((derivation) => derivation.file === file)
  if (found !== undefined) return found
  const names = all.map((derivation) => derivation.file)
  throw new SheetError(
    `no derivation ${showValue(file)}; ${names.length === 0 ? 'the sheet has none' : `there are ${names.join(', ')}`}`,
    'unknown_derivation',
  )
}

function describe(derivation: Derivation): DerivationReport {
  const { file, kind, targets, resources, text } = derivation
  return { file, kind: kind.name, targets, inputs: dependenciesOf(derivation), resources, text }
}
