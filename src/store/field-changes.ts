import type { JsonValue } from '../contract/json/json.ts'
import type { AcceptedProposal } from '../provenance/log-line.ts'

/**
 * The changes of fields that a caller requests with a new contract: without them a field that is absent from it, or has
 * another type, is refused where there are records.
 */
export interface FieldChanges {
  readonly actor: string
  /** The accepted proposal whose changes these are; absent or null for none. */
  readonly proposal?: AcceptedProposal | null
  /** New names by the names before. */
  readonly renamed: ReadonlyMap<string, string>
  /**
   * The numbers of values that the caller has confirmed to lose, by the names of the fields that are removed. Null
   * confirms nothing, which suffices for a field without values.
   */
  readonly removed: ReadonlyMap<string, number | null>
  /** Fields with another type, by their new names. */
  readonly converted: ReadonlyMap<string, Conversion>
  /**
   * Fields that get back the values of an earlier change, by their new names: the seq of the log's line of the change that
   * removed the field, or converted it.
   */
  readonly restored?: ReadonlyMap<string, number>
}

/** No changes of fields but those that need no request. */
export const NO_CHANGES: FieldChanges = {
  actor: 'system',
  renamed: new Map(),
  removed: new Map(),
  converted: new Map(),
}

export interface Conversion {
  /** Whether values that do not fit refuse the change, or are lost. */
  readonly onInvalid: 'refuse' | 'null'
}

/** The effect of changes of fields; a dry run has the same on the same state of the store. */
export interface FieldsEffect {
  /** The seq of the log's line of the change; null where no field was renamed, removed, converted or restored. */
  readonly seq: number | null
  /** The fields that change, in the order of the contract, removed ones at the end. */
  readonly fields: readonly FieldEffect[]
  /** The reasons why the change is refused; empty if it is not. */
  readonly conflicts: readonly string[]
}

export interface FieldEffect {
  readonly change: 'added' | 'renamed' | 'removed' | 'converted' | 'restored'
  /** The name after the change, of a removed field the name before. */
  readonly field: string
  /** The name before; null for an added or restored field. */
  readonly before: string | null
  /** Numbers of values that stay the same, that become another, and that are lost. */
  readonly kept: number
  readonly converted: number
  readonly lost: number
  /** The first values that do not fit, at most a hundred. */
  readonly misfits: readonly Misfit[]
}

/** A value that cannot be converted, or that the field refuses. */
export interface Misfit {
  readonly recordId: string
  readonly value: JsonValue
  /** Without the name of the field. */
  readonly error: string
}
