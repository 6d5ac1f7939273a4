import type { LogicalType } from '../../contract/contract.ts'
import type { FieldPlan } from './field-plan.ts'

/** The rename of a column with values of a type. */
export interface ColumnMove {
  readonly from: string
  readonly to: string
  readonly type: LogicalType
}

/** Returns the renames of columns that a plan needs, in their order: columns may swap their names. */
export function columnMoves({ renamed, removed, converted, restored }: FieldPlan): readonly ColumnMove[] {
  const moved = renamed
    .map(({ before, after }) => ({ from: before.name, to: after.name, type: after.type }))
    .filter(({ from, to }) => from !== to)
  const left = new Set(moved.map(({ from }) => from))
  const passing = moved.flatMap((move, index) =>
    left.has(move.to) ? [{ ...move, way: `$passing_${index}` }] : [],
  )
  return [
    ...[...removed, ...converted].map(({ before, kept }) => ({
      from: before.name,
      to: kept,
      type: before.type,
    })),
    // Those that take a name that is being left wait until it is.
    ...passing.map(({ from, way, type }) => ({ from, to: way, type })),
    ...moved.filter(({ to }) => !left.has(to)),
    ...passing.map(({ way, to, type }) => ({ from: way, to, type })),
    ...restored.map(({ after, kept }) => ({ from: kept, to: after.name, type: after.type })),
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
