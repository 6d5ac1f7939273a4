import type { Contract, Field } from '../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { convertValue } from '../../contract/values/convert-value.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import type { ProposedRecord } from '../stored-proposal.ts'
import { FieldLineages, spanAt } from './field-lineage.ts'
import type { StoredFieldChange } from './stored-changes.ts'

/** The names and types of the fields of a store, now and before. */
export interface FieldHistory {
  readonly contract: Contract
  readonly changes: readonly StoredFieldChange[]
}

export interface PastValues {
  readonly seq: number
  /** Values of removed fields, by their columns; absent for none. */
  readonly kept?: JsonValue | undefined
  /** Whether a value that cannot be converted is null (default), or as it was. */
  readonly unfit?: 'null' | 'same'
}

/**
 * Returns values of the time right after a line of the log under the present names and in the present types.
 */
export function presentValues(
  { contract, changes }: FieldHistory,
  values: JsonObject,
  { seq, kept, unfit = 'null' }: PastValues,
): JsonObject {
  if ((changes.at(-1)?.seq ?? 0) <= seq) return values
  const lineages = new FieldLineages(changes)
  return Object.fromEntries(
    contract.fields.flatMap((field): [string, JsonValue][] => {
      const spans = lineages.of(field.name)
      const span =
        spanAt(spans, seq) ?? spans.findLast(({ to, removedAs }) => to <= seq && removedAs !== null)
      if (span === undefined) return []
      const wasRemoved = span.to <= seq
      const source = wasRemoved ? (isJsonObject(kept) ? kept : {}) : values
      const name = wasRemoved ? (span.removedAs ?? span.name) : span.name
      if (!Object.hasOwn(source, name)) return []
      const value = source[name] ?? null
      const made = converted(field, span.type ?? field.type, value)
      return [[field.name, made ?? (unfit === 'null' ? null : value)]]
    }),
  )
}

/** Returns the value in the present type; undefined where it does not fit. */
function converted(field: Field, before: Field['type'], value: JsonValue): JsonValue | undefined {
  if (before === field.type) return value
  const made = convertValue(field, before, value)
  return made === null || made === undefined || valueError(field, made) === null ? made : undefined
}

/** Returns facts about fields, which have their names of the time right after a line of the log, under the present names. */
function presentNames<T>(
  history: FieldHistory,
  facts: Readonly<Record<string, T>>,
  seq: number,
): Readonly<Record<string, T>> {
  if ((history.changes.at(-1)?.seq ?? 0) <= seq) return facts
  const pastName = pastNames(history, seq)
  return Object.fromEntries(
    history.contract.fields.flatMap(({ name }): [string, T][] => {
      const fact = ownMember(facts, pastName(name))
      return fact === undefined ? [] : [[name, fact]]
    }),
  )
}

function ownMember<T>(facts: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(facts, name) ? facts[name] : undefined
}

/** Returns a function that gives the name that a present field had right after a line of the log. */
export function pastNames(
  { changes }: Pick<FieldHistory, 'changes'>,
  seq: number,
): (field: string) => string {
  if ((changes.at(-1)?.seq ?? 0) <= seq) return (field) => field
  const lineages = new FieldLineages(changes)
  return (field) => spanAt(lineages.of(field), seq)?.name ?? field
}

/** Returns a proposed change with the present names and types of fields. */
export function presentProposed(
  history: FieldHistory,
  { record, fieldsSeq: seq }: { readonly record: ProposedRecord; readonly fieldsSeq: number },
): ProposedRecord {
  const { was, change, decided } = record
  return {
    ...record,
    decided: presentNames(history, decided, seq),
    was: presentValues(history, was, { seq }),
    // The contract refuses a proposed value that does not fit any more.
    change: change === null ? null : presentValues(history, change, { seq, unfit: 'same' }),
  }
}
