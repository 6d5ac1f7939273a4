import type { Field, LogicalType } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { sameValue } from '../same-value.ts'
import { FieldLineages, spanAt, type FieldSpan } from './field-lineage.ts'
import type { StoredFieldChange } from './stored-changes.ts'

/** A field as it was at a line of the log, under the name under which it was requested. */
export interface PastField {
  readonly name: string
  /** The type of its values then. */
  readonly type: LogicalType
  /** The column that has its value then, unless a later line changed it; null for none. */
  readonly column: string | null
  /** The column and the type of its present value. */
  readonly present: Pick<Field, 'name' | 'type'>
  /** Returns the name under which a later line has its value, as long as the column has that; null for none. */
  loggedAs(seq: number): string | null
  /** The columns in which a deletion while the field was removed, or later converted, has its value. */
  readonly kept: readonly string[]
}

/** Whether the present value of a field is in another column than the past one, as after a conversion. */
export function isMoved({ column, present }: PastField): boolean {
  return column !== present.name
}

/** Returns the names of fields whose past and present values differ; `before` has the fields that later lines name. */
export function changedFields(
  fields: readonly PastField[],
  before: ReadonlyMap<string, JsonValue>,
  values: {
    readonly past: (field: PastField) => JsonValue
    readonly present: (field: PastField) => JsonValue
  },
): string[] {
  return fields
    .filter((field) => before.has(field.name) || isMoved(field))
    .filter((field) => !sameValue(values.past(field), values.present(field)))
    .map(({ name }) => name)
}

/** A present field, requested under its name or under one that it had before. */
export interface RequestedField {
  readonly name: string
  readonly type: LogicalType
  /** The present name; absent where it is `name`. */
  readonly present?: string
}

/** Returns fields as they were right after a line of the log. */
export function pastFields(
  changes: readonly StoredFieldChange[],
  fields: readonly RequestedField[],
  seq: number,
): readonly PastField[] {
  // Without a later change, every later line has the present names.
  if ((changes.at(-1)?.seq ?? 0) <= seq) {
    return fields.map(({ name, type, present = name }) => ({
      name,
      type,
      column: present,
      present: { name: present, type },
      loggedAs: () => present,
      kept: [],
    }))
  }
  const lineages = new FieldLineages(changes)
  return fields.map((field) => pastField(lineages.of(field.present ?? field.name), field, seq))
}

function pastField(spans: readonly FieldSpan[], requested: RequestedField, seq: number): PastField {
  const { name, type } = requested
  const present = { name: requested.present ?? name, type }
  const span = spanAt(spans, seq)
  if (span === undefined) return { name, type, column: null, present, loggedAs: () => null, kept: [] }
  const first = spans.indexOf(span)
  const end = spans.findIndex(({ converted }, index) => index >= first && converted)
  const same = spans.slice(first, end === -1 ? undefined : end + 1)
  return {
    name,
    type: span.type ?? type,
    column: span.column,
    present,
    loggedAs: (at) => spanAt(same, at)?.name ?? null,
    kept: [
      ...(span.column === null ? [] : [span.column]),
      ...same.flatMap(({ removedAs }) => removedAs ?? []),
    ],
  }
}
