import type { Contract, Field, LogicalType, ValueRule } from '../contract.ts'
import { jsonEqual, type JsonObject } from '../json/json.ts'
import { mayRefuse } from './compare-contracts.ts'

/** A change from one contract to the next, as a plan lists it. */
export type DefinitionChange =
  | { readonly change: 'add'; readonly field: string }
  | { readonly change: 'remove'; readonly field: string }
  | { readonly change: 'rename'; readonly field: string; readonly from: string }
  | {
      readonly change: 'retype'
      readonly field: string
      readonly from: LogicalType
      readonly to: LogicalType
    }
  /** Other values are valid than before; `tightened` if stored values may not be. */
  | { readonly change: 'constraint'; readonly field: string; readonly tightened: boolean }
  | { readonly change: 'permission'; readonly field: string | null }
  /** Kept fields are in another order. */
  | { readonly change: 'reorder'; readonly fields: readonly string[] }
  /** Descriptions, indexes and other keys that have no effect on values. */
  | { readonly change: 'other'; readonly field: string | null }

/**
 * Lists the changes between two contracts: those of fields in the order of the second, then removed fields, then those of the whole. `renamed`
 * has the new name of each renamed field by its old one; without it a renamed field is one removed and one added.
 */
export function classifyChanges(
  before: Contract,
  after: Contract,
  renamed: ReadonlyMap<string, string> = new Map(),
): readonly DefinitionChange[] {
  const oldNames = new Map(Array.from(renamed, ([from, to]) => [to, from]))
  const earlierOf = (field: Field): Field | undefined =>
    before.fieldByName.get(oldNames.get(field.name) ?? field.name)
  const kept = after.fields.flatMap((field) => earlierOf(field) ?? [])
  const keptNames = new Set(kept.map(({ name }) => name))
  const order = before.fields.filter(({ name }) => keptNames.has(name))
  return [
    ...after.fields.flatMap((field, index): DefinitionChange[] => {
      const earlier = earlierOf(field)
      if (earlier === undefined) return [{ change: 'add', field: field.name }]
      const earlierKeys = propertyOf(before, before.fields.indexOf(earlier))
      return fieldChanges(earlier, field, { before: earlierKeys, after: propertyOf(after, index) })
    }),
    ...before.fields
      .filter(({ name }) => !keptNames.has(name))
      .map(({ name }): DefinitionChange => ({ change: 'remove', field: name })),
    ...(kept.every((field, index) => field === order[index])
      ? []
      : [{ change: 'reorder', fields: after.fields.map(({ name }) => name) } as const]),
    ...wholeChanges(before, after),
  ]
}

interface Keys {
  readonly before: JsonObject
  readonly after: JsonObject
}

function fieldChanges(before: Field, after: Field, keys: Keys): DefinitionChange[] {
  const field = after.name
  const changes: DefinitionChange[] = []
  if (before.name !== field) changes.push({ change: 'rename', field, from: before.name })
  if (before.type !== after.type) changes.push({ change: 'retype', field, from: before.type, to: after.type })
  const isConstrained = !jsonEqual(ruleOf(before), ruleOf(after)) || before.unique !== after.unique
  if (isConstrained) {
    const tightened = mayRefuse(before, after) || (after.unique && !before.unique)
    changes.push({ change: 'constraint', field, tightened })
  }
  if (!jsonEqual(before.editableBy, after.editableBy)) changes.push({ change: 'permission', field })
  if (changes.length === 0 && !jsonEqual(keys.before, keys.after)) changes.push({ change: 'other', field })
  return changes
}

function wholeChanges(before: Contract, after: Contract): DefinitionChange[] {
  if (!jsonEqual(before.deletableBy, after.deletableBy)) return [{ change: 'permission', field: null }]
  return jsonEqual(withoutFields(before), withoutFields(after)) ? [] : [{ change: 'other', field: null }]
}

/** Returns what decides about values beside the type of the field. */
function ruleOf({ required, options, validValues, items, properties }: ValueRule): JsonObject {
  return {
    required,
    options,
    validValues,
    items: items ?? null,
    properties: properties ?? null,
  } as unknown as JsonObject
}

function propertyOf({ document }: Contract, index: number): JsonObject {
  const [entry] = document['schema'] as readonly JsonObject[]
  return ((entry?.['properties'] ?? []) as readonly JsonObject[])[index] ?? {}
}

function withoutFields({ document }: Contract): JsonObject {
  const [entry] = document['schema'] as readonly JsonObject[]
  return { ...document, schema: [{ ...entry, properties: [] }] }
}
