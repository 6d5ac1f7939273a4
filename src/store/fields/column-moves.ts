import type { FieldPlan } from './field-plan.ts'

/** Returns the renames of columns that a plan needs, in their order: columns may swap their names. */
export function columnMoves({
  renamed,
  removed,
  converted,
  restored,
}: FieldPlan): readonly (readonly [from: string, to: string])[] {
  const moved = renamed
    .map((field) => [field.before.name, field.after.name] as const)
    .filter(([from, to]) => from !== to)
  const left = new Set(moved.map(([from]) => from))
  const passing = moved.map(
    ([from, to], index) => [from, left.has(to) ? `$passing_${index}` : to, to] as const,
  )
  return [
    ...[...removed, ...converted].map(({ before, kept }) => [before.name, kept] as const),
    // Those that take a name that is being left wait until it is.
    ...passing.filter(([, way, to]) => way !== to).map(([from, way]) => [from, way] as const),
    ...passing.filter(([, way, to]) => way === to).map(([from, , to]) => [from, to] as const),
    ...passing.filter(([, way, to]) => way !== to).map(([, way, to]) => [way, to] as const),
    ...restored.map(({ after, kept }) => [kept, after.name] as const),
  ]
}

/** Returns a function that returns the column of a field before the plan, by the name after it. */
export function columnBefore({ renamed, restored }: FieldPlan): (field: string) => string {
  const columns = new Map([
    ...renamed.map((field) => [field.after.name, field.before.name] as const),
    ...restored.map(({ after, kept }) => [after.name, kept] as const),
  ])
  return (field) => columns.get(field) ?? field
}
