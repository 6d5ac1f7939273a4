import { cellConditions, type Condition } from '../../store/condition.ts'
import { selectTargets } from '../select-targets.ts'
import type { CurrentSheet, Sheet } from '../sheet.ts'
import { readCondition } from './read-condition.ts'

/** The sheet for an operation on the records that match a condition. */
export interface ConditionedSheet extends CurrentSheet {
  /** Null for all records. */
  readonly where: Condition | null
}

/**
 * Returns the sheet with a condition from the JSON text of a parameter. For a condition on the states or failures of cells, these are checked before.
 * Throws ValidationError as {@link readCondition} does, OperationError for the state or failure of a field that no derivation
 * computes, and what `current` and, for these, `deriving` of the sheet throw.
 */
export async function conditionedSheet(
  sheet: Sheet,
  text: string | null,
  name = 'where',
): Promise<ConditionedSheet> {
  const current = await sheet.current()
  const where = readCondition(current.contract, text, name)
  const onStates =
    where === null ? [] : cellConditions(where).filter(({ kind }) => kind === 'state' || kind === 'failure')
  if (onStates.length === 0) return { ...current, where }
  const { contract, store, derivations } = await sheet.deriving()
  for (const condition of onStates) if ('fields' in condition) selectTargets(derivations, condition.fields)
  return { contract, store, where: readCondition(contract, text, name) }
}
