import type { LogicalType } from '../../contract/contract.ts'
import { FieldLineages, spanAt, type FieldSpan } from './field-lineage.ts'
import type { StoredFieldChange } from './stored-changes.ts'

/** A field as it was at a line of the log, under the name under which it was requested. */
export interface PastField {
  readonly name: string
  /** The type of its values then. */
  readonly type: LogicalType
  /** The column that has its value then, unless a later line changed it; null for none. */
  readonly column: string | null
  /** Returns the name under which a later line has its value, as long as the column has that; null for none. */
  loggedAs(seq: number): string | null
  /** The columns in which a deletion while the field was removed, or later converted, has its value. */
  readonly kept: readonly string[]
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
      loggedAs: () => present,
      kept: [],
    }))
  }
  const lineages = new FieldLineages(changes)
  return fields.map((field) => pastField(lineages.of(field.present ?? field.name), field, seq))
}

function pastField(spans: readonly FieldSpan[], { name, type }: RequestedField, seq: number): PastField {
  const span = spanAt(spans, seq)
  if (span === undefined) return { name, type, column: null, loggedAs: () => null, kept: [] }
  const first = spans.indexOf(span)
  const end = spans.findIndex(({ converted }, index) => index >= first && converted)
  const same = spans.slice(first, end === -1 ? undefined : end + 1)
  return {
    name,
    type: span.type ?? type,
    column: span.column,
    loggedAs: (at) => spanAt(same, at)?.name ?? null,
    kept: [
      ...(span.column === null ? [] : [span.column]),
      ...same.flatMap(({ removedAs }) => removedAs ?? []),
    ],
  }
}
