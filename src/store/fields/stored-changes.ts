import { LOGICAL_TYPES, type LogicalType } from '../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import type { FieldsLine, Unnumbered } from '../../provenance/log-line.ts'
import type { FieldChanges, FieldEffect } from '../field-changes.ts'
import type { Query } from '../rows/query.ts'

/** A change of fields that the log has, with the columns that keep values; null in an imported log. */
export interface StoredFieldChange {
  readonly seq: number
  /** Names before and after. */
  readonly renamed: readonly (readonly [from: string, to: string])[]
  readonly removed: readonly {
    readonly name: string
    readonly type: LogicalType
    readonly column: string | null
  }[]
  /** By their names after the change. */
  readonly converted: readonly {
    readonly name: string
    readonly from: LogicalType
    readonly to: LogicalType
    readonly column: string | null
  }[]
  /** `change` is the seq of the line that removed the field. */
  readonly restored: readonly {
    readonly name: string
    readonly change: number
    readonly column: string | null
  }[]
}

/** Reads the changes of fields in their order. */
export const FIELD_CHANGES: Query<readonly StoredFieldChange[]> = {
  sql: 'SELECT seq, "change" FROM "$field_change" ORDER BY seq',
  params: [],
  result: (rows) =>
    rows.map((row) => ({
      seq: Number(row['seq']),
      ...(JSON.parse(String(row['change'])) as Omit<StoredFieldChange, 'seq'>),
    })),
}

/** Reads the seq of the last change of fields; 0 for none. */
export const LAST_FIELD_CHANGE: Query<number> = {
  sql: 'SELECT max(seq) AS seq FROM "$field_change"',
  params: [],
  result: ([row]) => Number(row?.['seq'] ?? 0),
}

/** The most changes of fields that a store can have: each read of the history goes through all of them. */
export const MOST_CHANGES = 10_000

/** Whether what a store has as its changes of fields, which may be from a stranger, is what {@link changeText} writes. */
export function areStoredChanges(changes: readonly unknown[]): boolean {
  const has = (value: unknown, types: Readonly<Record<string, readonly string[]>>): boolean =>
    isJsonObject(value) &&
    Object.entries(types).every(([name, allowed]) =>
      allowed.includes(value[name] === null ? 'null' : typeof value[name]),
    )
  const named = { name: ['string'], column: ['string', 'null'] }
  const list = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
    Array.isArray(value) && (value as readonly unknown[]).every(isItem)
  const isType = (value: unknown): boolean => LOGICAL_TYPES.some((type) => type === value)
  return (
    changes.length <= MOST_CHANGES &&
    changes.every(
      (change) =>
        isJsonObject(change) &&
        list(
          change['renamed'],
          (pair) => list(pair, (name) => typeof name === 'string') && (pair as unknown[]).length === 2,
        ) &&
        list(change['removed'], (field) => has(field, named) && isType((field as JsonObject)['type'])) &&
        list(
          change['converted'],
          (field) =>
            has(field, named) && isType((field as JsonObject)['from']) && isType((field as JsonObject)['to']),
        ) &&
        list(change['restored'], (field) => has(field, { ...named, change: ['number'] })),
    )
  )
}

/** Returns a change as the store has it in a column of text. */
export function changeText({ seq: _seq, ...change }: StoredFieldChange): string {
  return JSON.stringify(change)
}

/** Returns the names that mean another field, another type or none after a change. */
export function changedNames({ renamed, removed, converted, restored }: StoredFieldChange): string[] {
  return [...renamed.flat(), ...[...removed, ...converted, ...restored].map(({ name }) => name)]
}

/** A field whose values a store keeps since an earlier change. */
export interface KeptField {
  readonly change: number
  readonly column: string
  /** The name when the change was made, and the type of the values. */
  readonly name: string
  readonly type: LogicalType
  /** Whether the change removed the field, and did not convert it. */
  readonly removed: boolean
}

/** A column that keeps values, as a field. */
export type KeptColumn = Pick<KeptField, 'type'> & { readonly name: string }

/** Returns the columns that keep values. */
export function keptColumns(changes: readonly StoredFieldChange[]): KeptColumn[] {
  return keptFields(changes).map(({ column, type }) => ({ name: column, type }))
}

/** Returns the values that a store keeps. */
export function keptFields(changes: readonly StoredFieldChange[]): KeptField[] {
  const back = new Set(changes.flatMap(({ restored }) => restored.map(({ column }) => column)))
  return changes.flatMap(({ seq, removed, converted }) =>
    [
      ...removed.map(({ name, type, column }) => ({ change: seq, column, name, type, removed: true })),
      ...converted.map(({ name, from, column }) => ({
        change: seq,
        column,
        name,
        type: from,
        removed: false,
      })),
    ].flatMap(({ column, ...field }) => (column === null || back.has(column) ? [] : [{ ...field, column }])),
  )
}

/** Returns the content of the log's line of a change, which has these effects. */
export function loggedChange(
  { renamed, removed, converted, restored }: StoredFieldChange,
  { actor, proposal = null, restored: back }: Pick<FieldChanges, 'actor' | 'proposal' | 'restored'>,
  effects: readonly FieldEffect[],
): Unnumbered<FieldsLine> {
  const lostBy = (name: string): number =>
    effects.find(({ change, field }) => change === 'converted' && field === name)?.lost ?? 0
  const revertsIn = (name: string): { reverts?: number } => {
    const reverts = back?.get(name)
    return reverts === undefined ? {} : { reverts }
  }
  return {
    actor,
    source: 'contract',
    ...(proposal !== null && { proposal: proposal.id, proposed_by: proposal.by }),
    ...(renamed.length > 0 && { renamed: Object.fromEntries(renamed) }),
    ...(removed.length > 0 && {
      removed: Object.fromEntries(removed.map(({ name, type }) => [name, { type }])),
    }),
    ...(converted.length > 0 && {
      converted: Object.fromEntries(
        converted.map(({ name, from, to }) => [name, { from, to, lost: lostBy(name), ...revertsIn(name) }]),
      ),
    }),
    ...(restored.length > 0 && {
      restored: Object.fromEntries(restored.map(({ name, change }) => [name, change])),
    }),
  }
}

/** Reads the change of fields that a line of an imported log describes; null for any other line. */
export function importedChange(line: JsonObject): StoredFieldChange | null {
  if (line['source'] !== 'contract') return null
  const entries = (name: string): [string, JsonValue][] | null => {
    const members = line[name] ?? {}
    return isJsonObject(members) ? Object.entries(members).map(([key, value]) => [key, value ?? null]) : null
  }
  const [renamed, removed, converted, restored] = ['renamed', 'removed', 'converted', 'restored'].map(entries)
  if (!renamed || !removed || !converted || !restored) return null
  const change = {
    seq: Number(line['seq']),
    renamed: renamed.flatMap(([from, to]) => (typeof to === 'string' ? [[from, to] as const] : [])),
    removed: removed.flatMap(([name, field]) => {
      const type = typeIn(field, 'type')
      return type === null ? [] : [{ name, type, column: null }]
    }),
    converted: converted.flatMap(([name, field]) => {
      const [from, to] = [typeIn(field, 'from'), typeIn(field, 'to')]
      return from === null || to === null ? [] : [{ name, from, to, column: null }]
    }),
    restored: restored.flatMap(([name, seq]) =>
      typeof seq === 'number' && Number.isSafeInteger(seq) ? [{ name, change: seq, column: null }] : [],
    ),
  }
  const read = [change.renamed, change.removed, change.converted, change.restored]
  const written = [renamed, removed, converted, restored]
  return read.every((part, index) => part.length === written[index]?.length) ? change : null
}

function typeIn(field: JsonValue, member: string): LogicalType | null {
  const type = isJsonObject(field) ? field[member] : null
  return LOGICAL_TYPES.find((known) => known === type) ?? null
}
