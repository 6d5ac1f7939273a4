import type { Field } from '../../../contract/contract.ts'
import type { FieldPlan } from '../../fields/field-plan.ts'
import { fieldIndexes } from '../database/field-indexes.ts'
import { quoted } from '../database/schema.ts'

/**
 * Returns statements that let the indexes of fields follow a plan: their names say which columns they are of, and are all
 * that is compared later. Indexes of renamed fields are renamed, which may swap names; those of other columns are dropped.
 */
export function indexMoves({ renamed, removed, converted }: FieldPlan): readonly string[] {
  const moves: (readonly [from: string, to: string])[] = []
  const dropped = [...removed, ...converted].flatMap(({ before }) => namesOf(before))
  for (const { before, after } of renamed) {
    const [from, to] = [namesOf(before), namesOf(after)]
    if (before.unique === after.unique && before.indexed === after.indexed) {
      moves.push(
        ...from.map((name, index) => [name, to[index] ?? name] as const).filter(([old, now]) => old !== now),
      )
    } else {
      dropped.push(...from)
    }
  }
  const passing = (index: number): string => quoted(`$passing_${index}`)
  return [
    ...dropped.map((name) => `DROP INDEX IF EXISTS ${quoted(name)}`),
    ...moves.map(([from], index) => `ALTER INDEX IF EXISTS ${quoted(from)} RENAME TO ${passing(index)}`),
    ...moves.map(([, to], index) => `ALTER INDEX IF EXISTS ${passing(index)} RENAME TO ${quoted(to)}`),
  ]
}

function namesOf(field: Field): string[] {
  return fieldIndexes({ fields: [field] }).map(({ name }) => name)
}
