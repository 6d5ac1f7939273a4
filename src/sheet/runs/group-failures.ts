import { ValidationError } from '../../errors/service-error.ts'
import type { JsonBytes } from '../../store/sheet-store.ts'
import type { RunId } from '../../store/stored-run.ts'
import { conditionedSheet } from '../queries/conditioned-sheet.ts'
import { unknownRun } from './read-runs.ts'
import type { Sheet } from '../sheet.ts'

export interface FailureGroupsQuery {
  /** A boolean SQL expression over the fields (D16); null for all records. */
  readonly filter: string | null
  /** A condition as data, as in `listRecords`; null for all records. */
  readonly where: string | null
  /** The run whose failures are grouped, whatever has become of the cells; null for the cells that are failed now. */
  readonly run: RunId | null
}

/**
 * Groups failed cells by the reason of their failure, as the JSON text of FailureGroups. Throws ValidationError for a bad condition, or
 * one beside a run, SheetError for an unknown run, QueryError for a bad filter and beyond the limits of queries (D19). When `signal`
 * aborts, stops the work and throws its reason.
 */
export async function groupFailures(
  sheet: Sheet,
  { filter, where, run }: FailureGroupsQuery,
  signal?: AbortSignal,
): Promise<JsonBytes> {
  if (run !== null && (filter !== null || where !== null))
    throw new ValidationError(
      'run cannot be combined with filter or where: the failures of a run are those of all its records',
    )
  const { store, where: condition } = await conditionedSheet(sheet, where)
  if (run !== null && (await store.run(run)) === null) throw unknownRun(run)
  return store.failureGroups({ filter, where: condition, run }, signal)
}
