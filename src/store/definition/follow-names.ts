import type { FieldPlan } from '../fields/field-plan.ts'
import type { StoredTarget } from '../rows/stored-targets.ts'

/** A derived field with the names after a plan. */
export interface RenamedTarget {
  readonly id: number
  readonly field: string
  /** See {@link fileAfter}. */
  readonly sha256: string
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
  return targets.flatMap((target) => {
    const { id, field, inputs, required, nonEmpty, reads, sources } = target
    const isLeft = !names.has(field) && !plan.before.fieldByName.has(field) && taken.has(field)
    if (!isLeft && ![field, ...inputs, ...(reads ?? [])].some((name) => names.has(name))) return []
    const name = isLeft ? `$left_${id}` : rename(field)
    return [
      {
        id,
        field: name,
        sha256: fileAfter(target, name),
        inputs: inputs.map(rename),
        required: required?.map(rename) ?? null,
        nonEmpty: nonEmpty?.map(rename) ?? null,
        reads: reads?.map(rename) ?? null,
        sources: reads?.some(isConverted) === true ? `${sources ?? '0'}+` : sources,
      },
    ]
  })
}

/**
 * Returns the hash of the file of a derived field with another name. A file that is gone cannot follow the name: put back, it would compute
 * the field as another one of its targets. So the hash has the former name until the field has that again.
 */
function fileAfter({ active, field, sha256 }: StoredTarget, name: string): string {
  if (active) return sha256
  const [, former = field, own = sha256] = /^(.*)@(.*)$/.exec(sha256) ?? []
  return former === name ? own : `${former}@${own}`
}

/** Whether a derived field has had another name since its file is gone, so that results of that file are none of its own. */
export function hasOtherName({ sha256 }: StoredTarget): boolean {
  return sha256.includes('@')
}

/** Returns the names after the plan of the fields that it concerns, by those before; of a removed field its column. */
function namesAfter({ renamed, removed, converted, restored }: FieldPlan): ReadonlyMap<string, string> {
  return new Map([
    ...[...renamed, ...converted].map((field) => [field.before.name, field.after.name] as const),
    ...removed.map(({ before, kept }) => [before.name, kept] as const),
    ...restored.map(({ kept, after }) => [kept, after.name] as const),
  ])
}
