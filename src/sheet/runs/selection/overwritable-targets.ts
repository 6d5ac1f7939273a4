import type { Contract } from '../../../contract/contract.ts'
import { mayWrite } from '../../../contract/rules/permissions.ts'

/** Returns the targets whose manual values a run may overwrite: those that its actor may write (D7, D28). */
export function overwritableTargets(
  contract: Contract,
  run: {
    readonly overwriteManual?: boolean
    readonly actor?: string
    readonly targets: ReadonlySet<string>
  },
): ReadonlySet<string> {
  const { overwriteManual = false, actor, targets } = run
  if (!overwriteManual || actor === undefined) return new Set()
  const fields = contract.fields.filter((field) => targets.has(field.name) && mayWrite(field, actor, true))
  return new Set(fields.map(({ name }) => name))
}
