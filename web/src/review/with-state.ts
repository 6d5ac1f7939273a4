import { ANY_COMPUTED, type Condition } from '../state/conditions.ts'

/** Returns the states of any computed column that conditions select; empty for none. */
export function selectedStates(conditions: readonly Condition[]): readonly string[] {
  const value = conditions.find(isOfAny)?.value
  return Array.isArray(value) ? value.map(String) : []
}

/** Adds a state to the condition on any computed column, or removes it from there. */
export function toggleState(conditions: readonly Condition[], state: string): readonly Condition[] {
  const before = selectedStates(conditions)
  const states = before.includes(state) ? before.filter((each) => each !== state) : [...before, state]
  const condition: Condition = { field: ANY_COMPUTED, is: 'inState', value: states }
  const at = conditions.findIndex(isOfAny)
  if (at < 0) return [...conditions, condition]
  return states.length === 0 ? conditions.toSpliced(at, 1) : conditions.with(at, condition)
}

function isOfAny({ field, is }: Condition): boolean {
  return field === ANY_COMPUTED && is === 'inState'
}
