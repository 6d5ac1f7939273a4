import type { Derivation, Resource } from '../../derivation/definition/derivation-kind.ts'
import { dependenciesOf } from '../../derivation/definition/graph.ts'

/** A column on which a derived field depends. */
export interface ColumnUse {
  /** The file or the other sheet with the column; null for a field of the sheet itself. */
  readonly table: Resource | null
  readonly column: string
  /** `value`: the result is computed from it; `same`: it is the result; `key`: a row is found by it; `condition`: it decides which result counts. */
  readonly as: 'value' | 'same' | 'key' | 'condition'
}

/**
 * Returns the columns on which a target of a derivation depends, each once for each use. Those of the sheet itself are exactly the
 * fields of {@link dependenciesOf}.
 */
export function columnUses(derivation: Derivation, target: string): readonly ColumnUse[] {
  const { kind, spec } = derivation
  const table = kind.tableOf?.(spec)
  if (table !== undefined) {
    const { resource, key, match, values } = table
    const column = values[target]
    return [
      { table: null, column: match, as: 'key' },
      { table: resource, column: key, as: 'key' },
      ...(column === undefined ? [] : [{ table: resource, column, as: 'same' } as const]),
    ]
  }
  const steps = kind.stepsOfFile?.(spec) ?? null
  const own = (column: string, as: ColumnUse['as']): ColumnUse => ({ table: null, column, as })
  if (steps === null) return dependenciesOf(derivation).map((column) => own(column, 'value'))
  const uses = steps.flatMap((step) => columnUses(step.derivation, target))
  const used = new Set(uses.flatMap(({ table: of, column }) => (of === null ? [column] : [])))
  const others = dependenciesOf(derivation).filter((field) => !used.has(field))
  return distinct([...uses, ...others.map((field) => own(field, 'condition'))])
}

function distinct(uses: readonly ColumnUse[]): readonly ColumnUse[] {
  return [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()]
}
