import { ANY_COLUMN, type Condition } from '../state/conditions.ts'

/** The operator of a chip: by states of cells, verdicts of their reviews, reasons of their failures, or the writers of their values. */
export type ChipOperator = 'inState' | 'reviewed' | 'failedWith' | 'writtenBy' | 'writtenIn'

/** Returns the names, such as states, of any column that conditions select; empty for none. */
export function selectedNames(conditions: readonly Condition[], is: ChipOperator): readonly string[] {
  const value = conditions.find(isOfAny(is))?.value
  return Array.isArray(value) ? value.map(String) : []
}

/** Adds a name to the condition on any column, or removes it from there. */
export function toggleName(
  conditions: readonly Condition[],
  is: ChipOperator,
  name: string,
): readonly Condition[] {
  const before = selectedNames(conditions, is)
  const names = before.includes(name) ? before.filter((each) => each !== name) : [...before, name]
  const condition: Condition = { field: ANY_COLUMN, is, value: names }
  const at = conditions.findIndex(isOfAny(is))
  if (at < 0) return [...conditions, condition]
  return names.length === 0 ? conditions.toSpliced(at, 1) : conditions.with(at, condition)
}

function isOfAny(wanted: ChipOperator): (condition: Condition) => boolean {
  return ({ field, is }) => field === ANY_COLUMN && is === wanted
}
