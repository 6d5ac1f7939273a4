/** The state of an input that is itself a cell with work to do; `blocked` whatever its state is otherwise. */
export type PendingInput = 'missing' | 'stale' | 'failed' | 'blocked'

/** Why a run cannot compute a cell, and because of which input (D32). */
export interface Block {
  readonly reason: 'input_failed' | 'input_empty' | 'input_blocked'
  readonly field: string
}

/** What a cell is computed from. */
export interface Needs {
  readonly inputs: readonly string[]
  /** Those of them without whose value no request is made (D22). */
  readonly required: readonly string[]
  /** Those of the required ones whose empty text counts as no value (`skip_blank`). */
  readonly nonEmpty: readonly string[]
}

/** What is known of a cell's inputs in one record. */
export interface InputFacts {
  /** Its value; null or undefined for none. */
  value(field: string): unknown
  /** Undefined for a field that is not derived, and for a cell that is fresh or overridden. */
  pending(field: string): PendingInput | undefined
}

/**
 * What keeps a run from computing a cell with these inputs: one that failed at its last try, a required one without a value
 * that no run will give it, or one that is itself blocked. Null when nothing does: an input that is missing or stale, and not
 * blocked, can be computed first. `store/rows/blocked-sql.ts` has the same rule in SQL.
 */
export function blockOf({ inputs, required, nonEmpty }: Needs, { value, pending }: InputFacts): Block | null {
  const failed = inputs.find((field) => pending(field) === 'failed')
  if (failed !== undefined) return { reason: 'input_failed', field: failed }
  const empty = required.find(
    (field) => pending(field) === undefined && isEmpty(value(field), nonEmpty.includes(field)),
  )
  if (empty !== undefined) return { reason: 'input_empty', field: empty }
  const blocked = inputs.find((field) => pending(field) === 'blocked')
  return blocked === undefined ? null : { reason: 'input_blocked', field: blocked }
}

/** Whether a request lacks an input with this value; `nonEmpty` counts an empty text as none, but no other blank one. */
export function isEmpty(value: unknown, nonEmpty: boolean): boolean {
  return value === null || value === undefined || (nonEmpty && value === '')
}
