import { showValue } from '../../contract/json/show-value.ts'
import { SheetError } from '../../errors/service-error.ts'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import type { Sheet } from '../sheet.ts'

/** A derivation file, and what it comes to. */
export interface DerivationReport {
  readonly file: string
  readonly kind: string
  readonly targets: readonly string[]
  /** Fields whose change makes the targets stale, those that are only in placeholders included. */
  readonly inputs: readonly string[]
  /** `host:port` of those that runs call. */
  readonly hosts: readonly string[]
  readonly text: string
}

/** The derivations of the sheet, each after those it depends on. Throws ContractError. */
export async function readDerivations(sheet: Sheet): Promise<readonly DerivationReport[]> {
  const { derivations } = await sheet.deriving()
  return derivations.levels.flat().map(describe)
}

/** One derivation by the name of its file. Throws ContractError, and SheetError where the sheet has none of it. */
export async function readDerivation(sheet: Sheet, file: string): Promise<DerivationReport> {
  const all = await readDerivations(sheet)
  const found = all.find((derivation) => derivation.file === file)
  if (found !== undefined) return found
  const names = all.map((derivation) => derivation.file)
  throw new SheetError(
    `no derivation ${showValue(file)}; ${names.length === 0 ? 'the sheet has none' : `there are ${names.join(', ')}`}`,
  )
}

function describe({ file, kind, targets, inputs, hosts, text }: Derivation): DerivationReport {
  return { file, kind: kind.name, targets, inputs, hosts, text }
}
