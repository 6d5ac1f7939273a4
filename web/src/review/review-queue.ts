import type { Condition } from '../state/conditions.ts'
import { ANY_COLUMN } from '../state/conditions.ts'
import type { CellRef } from '../state/view-state.ts'

/** A cell to review. */
export interface QueuedCell extends CellRef {
  /** Its state when the queue was made; null for a field that is not computed. */
  readonly state: string | null
}

/** The cells of a filter that are reviewed, of those that its records have. */
export interface Reviewed {
  /** States by field, {@link ANY_COLUMN} for all computed ones; empty for none. */
  readonly states: ReadonlyMap<string, readonly string[]>
  /** Verdicts by field, as in `states`; empty for none. */
  readonly verdicts: ReadonlyMap<string, readonly string[]>
  /** Conditions on the writers of values. */
  readonly writers: readonly Condition[]
}

/** The states of cells that have something to review: a value, or a failure. */
const WITH_CONTENT = ['failed', 'stale', 'overridden', 'fresh']

/** Returns the cells that the conditions of a view select; all computed cells with a value or a failure if none do. */
export function reviewedBy(conditions: readonly Condition[]): Reviewed {
  const of = (is: Condition['is']): Reviewed['states'] =>
    new Map(
      conditions.flatMap((each) =>
        each.is === is && Array.isArray(each.value) ? [[each.field, each.value.map(String)] as const] : [],
      ),
    )
  const failed = conditions
    .filter(({ is }) => is === 'failedWith')
    .map(({ field }) => [field, ['failed']] as const)
  const [states, verdicts] = [new Map([...of('inState'), ...failed]), of('reviewed')]
  const writers = conditions.filter(({ is }) => is === 'writtenBy' || is === 'writtenIn')
  return states.size + verdicts.size + writers.length > 0
    ? { states, verdicts, writers }
    : { states: new Map([[ANY_COLUMN, WITH_CONTENT]]), verdicts, writers }
}

/**
 * The cells of a page of records, by record and field: states of computed cells, verdicts of reviewed ones, and whether conditions on
 * writers select them.
 */
export interface PageCells {
  readonly ids: readonly string[]
  readonly states: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly verdicts: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly written: Readonly<Record<string, Readonly<Record<string, true>>>>
}

/** Returns the cells of a page that are reviewed, in the order of the records and of the fields. */
export function queueOf(
  { ids, states, verdicts, written }: PageCells,
  reviewed: Reviewed,
  fields: readonly string[],
): readonly QueuedCell[] {
  const selects = (wanted: Reviewed['states'], field: string, found: string | undefined): boolean =>
    found !== undefined && [field, ANY_COLUMN].some((name) => wanted.get(name)?.includes(found) === true)
  return ids.flatMap((recordId) =>
    fields.flatMap((field) => {
      const state = states[recordId]?.[field]
      const isSelected =
        selects(reviewed.states, field, state) ||
        selects(reviewed.verdicts, field, verdicts[recordId]?.[field]) ||
        written[recordId]?.[field] === true
      return isSelected ? [{ recordId, field, state: state ?? null }] : []
    }),
  )
}
