import type { FieldPlan } from '../fields/field-plan.ts'
import type { StoredTarget } from '../rows/stored-targets.ts'

/** A derived field with the names after a plan. */
export interface RenamedTarget {
  readonly id: number
  readonly field: string
  readonly inputs: readonly string[]
  readonly required: readonly string[] | null
  readonly nonEmpty: readonly string[] | null
  readonly reads: readonly string[] | null
  /** One that it never had where values that its query reads are converted. */
  readonly sources: string | null
}

/**
 * Returns the derived fields that a plan concerns, themselves or in an input. A former one that the contract had no longer
 * leaves its name to a renamed field.
 */
export function renamedTargets(targets: readonly StoredTarget[], plan: FieldPlan): readonly RenamedTarget[] {
  const names = namesAfter(plan)
  const taken = new Set(names.values())
  const rename = (name: string): string => names.get(name) ?? name
  const isConverted = (name: string): boolean => plan.converted.some(({ before }) => before.name === name)
  return targets.flatMap(({ id, field, inputs, required, nonEmpty, reads, sources }) => {
    const isLeft = !names.has(field) && !plan.before.fieldByName.has(field) && taken.has(field)
    if (!isLeft && ![field, ...inputs, ...(reads ?? [])].some((name) => names.has(name))) return []
    return [
      {
        id,
        field: isLeft ? `$left_${id}` : rename(field),
        inputs: inputs.map(rename),
        required: required?.map(rename) ?? null,
        nonEmpty: nonEmpty?.map(rename) ?? null,
        reads: reads?.map(rename) ?? null,
        sources: reads?.some(isConverted) === true ? `${sources ?? '0'}+` : sources,
      },
    ]
  })
}

/** Returns the names after the plan of the fields that it concerns, by those before; of a removed field its column. */
function namesAfter({ renamed, removed, converted, restored }: FieldPlan): ReadonlyMap<string, string> {
  return new Map([
    ...[...renamed, ...converted].map((field) => [field.before.name, field.after.name] as const),
    ...removed.map(({ before, kept }) => [before.name, kept] as const),
    ...restored.map(({ kept, after }) => [kept, after.name] as const),
  ])
}
