import { ValidationError } from '../../errors/service-error.ts'
import { cellConditions } from '../../store/condition.ts'
import type { Dialect } from '../../store/sheet-store.ts'
import { readCondition } from './read-condition.ts'
import type { Sheet } from '../sheet.ts'

/** The SQL dialect of a sheet. */
export interface SheetDialect {
  readonly dialect: Dialect
  /** The given condition as a filter of the dialect; null when there was none. */
  readonly filter: string | null
}

/**
 * Returns the dialect of filters and statements, and a condition as a filter in it. Throws ValidationError for a bad
 * condition, and for one on states or reviews of cells, which SQL over the fields cannot express.
 */
export async function readDialect(sheet: Sheet, where: string | null = null): Promise<SheetDialect> {
  const { contract, store } = await sheet.current()
  const condition = readCondition(contract, where)
  if (condition !== null && cellConditions(condition).length > 0)
    throw new ValidationError(
      'a condition on the states or reviews of cells cannot be translated into SQL; translate the others, and combine filter and where',
      'invalid_condition',
    )
  return { dialect: store.dialect, filter: condition === null ? null : store.conditionText(condition) }
}
