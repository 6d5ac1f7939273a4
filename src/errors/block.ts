/** The state of an input that is itself a pending cell; `blocked` takes precedence. */
export type PendingInput = 'missing' | 'stale' | 'failed' | 'blocked'

/** The reason why a run cannot compute a cell, and the input that causes it (D32). */
export interface Block {
  readonly reason: 'input_failed' | 'input_empty' | 'input_blocked'
  readonly field: string
}

/** The inputs of a cell. */
export interface Needs {
  readonly inputs: readonly string[]
  /** Inputs without whose value no request is made (D22). */
  readonly required: readonly string[]
  /** Required inputs whose empty text counts as no value (`skip_blank`). */
  readonly nonEmpty: readonly string[]
}

/** The values and states of a cell's inputs in one record. */
export interface InputFacts {
  /** Its value; null or undefined for none. */
  value(field: string): unknown
  /** Undefined for a field that is not derived, and for a cell that is fresh or overridden. */
  pending(field: string): PendingInput | undefined
}

/**
 * Returns what prevents a run from computing a cell with these inputs: an input whose last attempt failed, a required input
 * without a value that no run will compute, or a blocked input. Null for none: an input that is missing or stale, and not
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

/** Whether a value counts as no value; with `nonEmpty` an empty text does, but no other blank text. */
export function isEmpty(value: unknown, nonEmpty: boolean): boolean {
  return value === null || value === undefined || (nonEmpty && value === '')
}
