import type { ContractDocument, FieldType } from '../api/contract.ts'
import { closedListOf, editableByOf, mayBeClosed, type FieldDraft } from './field-draft.ts'

type Json = Readonly<Record<string, unknown>>

/** The place of a new field in the contract; null for the end. */
export type FieldPlace = { readonly beside: string; readonly side: 'before' | 'after' } | null

/** Returns a contract with a further field. */
export function withField(document: ContractDocument, draft: FieldDraft, place: FieldPlace): Json {
  const properties = propertiesOf(document)
  const property = withSettings({ name: draft.name, logicalType: draft.type }, draft, null, properties)
  const index = properties.findIndex(({ name }) => name === place?.beside)
  const at = place === null || index === -1 ? properties.length : index + (place.side === 'after' ? 1 : 0)
  return withProperties(document, properties.toSpliced(at, 0, property))
}

/**
 * Returns a contract with other settings of a field. Settings that are as before stay as the contract has them. A new name is also that in
 * `x-inputs` and `idFrom` of other fields.
 */
export function withChangedField(
  document: ContractDocument,
  name: string,
  change: { readonly before: FieldDraft; readonly draft: FieldDraft },
): Json {
  const { before, draft } = change
  const properties = propertiesOf(document)
  return withProperties(
    document,
    properties.map((property) =>
      property['name'] === name
        ? withSettings(property, draft, before, properties)
        : withOtherName(property, name, draft.name),
    ),
  )
}

/** Returns a contract without a field. */
export function withoutField(document: ContractDocument, name: string): Json {
  return withProperties(
    document,
    propertiesOf(document).filter((property) => property['name'] !== name),
  )
}

/** The constraints of a field that do not fit another type, and which a conversion therefore removes. */
export function lostOptions(
  options: Readonly<Record<string, unknown>>,
  from: FieldType,
  to: FieldType,
): readonly string[] {
  if (from === to) return []
  const isNumeric = [from, to].every((type) => type === 'integer' || type === 'number')
  return Object.keys(options).filter((option) => !isNumeric || option === 'format')
}

function propertiesOf(document: ContractDocument): readonly Json[] {
  return document.schema[0].properties as unknown as readonly Json[]
}

function withProperties(document: ContractDocument, properties: readonly Json[]): Json {
  const [entry] = document.schema
  return { ...document, schema: [{ ...entry, properties }] }
}

function withSettings(
  property: Json,
  draft: FieldDraft,
  before: FieldDraft | null,
  all: readonly Json[],
): Json {
  const differs = (key: keyof FieldDraft): boolean => before === null || before[key] !== draft[key]
  let next: Json = { ...property, name: draft.name }
  const set = (key: string, value: unknown): void => {
    const { [key]: _, ...others } = next
    next =
      value === undefined
        ? others
        : Object.hasOwn(next, key)
          ? { ...next, [key]: value }
          : { ...others, [key]: value }
  }
  if (differs('type')) {
    set('logicalType', draft.type)
    if (before !== null) withoutForeignKeys(next, before.type, draft.type, set)
  }
  if (differs('title')) set('businessName', draft.title.trim() === '' ? undefined : draft.title.trim())
  if (differs('description')) set('description', draft.description === '' ? undefined : draft.description)
  if (differs('required')) set('required', draft.required)
  if (differs('unique')) set('unique', draft.unique)
  if (differs('values') || (differs('type') && draft.values !== '')) set('quality', qualityWith(next, draft))
  if (differs('editors') || differs('patterns')) setPermission(next, editableByOf(draft), all, set)
  return next
}

function withoutForeignKeys(
  property: Json,
  from: FieldType,
  to: FieldType,
  set: (key: string, value: unknown) => void,
): void {
  const options = (property['logicalTypeOptions'] ?? {}) as Json
  const lost = lostOptions(options, from, to)
  if (lost.length > 0) {
    const kept = Object.entries(options).filter(([key]) => !lost.includes(key))
    set('logicalTypeOptions', kept.length === 0 ? undefined : Object.fromEntries(kept))
  }
  if (to !== 'array') set('items', undefined)
  if (to !== 'object') set('properties', undefined)
}

/** Returns the rules of a field with another closed list: the first such rule is edited, others stay. */
function qualityWith(property: Json, draft: FieldDraft): readonly unknown[] | undefined {
  const rules = (property['quality'] ?? []) as readonly Json[]
  const list = closedListOf(draft)
  const validValues = list === null || 'error' in list ? null : list
  const index = rules.findIndex(({ metric }) => metric === 'invalidValues')
  const rule = rules[index]
  if (validValues === null) {
    const rest = mayBeClosed(draft.type)
      ? rules.toSpliced(index, rule === undefined ? 0 : 1)
      : withoutLists(rules)
    return rest.length === 0 ? undefined : rest
  }
  if (rule === undefined)
    return [...rules, { metric: 'invalidValues', arguments: { validValues }, mustBe: 0 }]
  return rules.with(index, { ...rule, arguments: { ...(rule['arguments'] as Json), validValues } })
}

function withoutLists(rules: readonly Json[]): readonly Json[] {
  return rules.filter(({ metric }) => metric !== 'invalidValues')
}

/** Sets a permission in the form that the contract uses. */
function setPermission(
  property: Json,
  patterns: readonly string[] | null,
  all: readonly Json[],
  set: (key: string, value: unknown) => void,
): void {
  const custom = (property['customProperties'] ?? []) as readonly Json[]
  const index = custom.findIndex((each) => each['property'] === 'editableBy')
  const usesKey = index === -1 && all.some((each) => Object.hasOwn(each, 'x-editable-by'))
  if (usesKey || Object.hasOwn(property, 'x-editable-by')) {
    set('x-editable-by', patterns ?? undefined)
    return
  }
  const rule = { property: 'editableBy', value: patterns }
  const next =
    patterns === null
      ? custom.filter((_, at) => at !== index)
      : index === -1
        ? [...custom, rule]
        : custom.with(index, { ...custom[index], value: patterns })
  set('customProperties', next.length === 0 ? undefined : next)
}

function withOtherName(property: Json, from: string, to: string): Json {
  if (from === to) return property
  const named = (list: unknown): unknown =>
    Array.isArray(list) ? (list as readonly unknown[]).map((each) => (each === from ? to : each)) : list
  const custom = property['customProperties']
  return {
    ...property,
    ...(property['x-inputs'] === undefined ? {} : { 'x-inputs': named(property['x-inputs']) }),
    ...(Array.isArray(custom)
      ? {
          customProperties: (custom as readonly Json[]).map((each) =>
            each['property'] === 'idFrom' ? { ...each, value: named(each['value']) } : each,
          ),
        }
      : {}),
  }
}
