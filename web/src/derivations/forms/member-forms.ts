import { editsBetween } from '../../../../src/contract/yaml/edit/value-edits.ts'
import type { YamlEdit, YamlPath } from '../../../../src/contract/yaml/edit/yaml-edit.ts'
import { isMembers, memberOf, textOf, type FormMembers, type FormValue } from './form-text.ts'
import { fieldsOfKind, type KindField } from './kind-fields.ts'

/** Whether a form can show a value of a field without losing a part of it. */
export function canShow(field: KindField, members: FormMembers): boolean {
  const value = memberOf(members, field.key)
  if (field.type === 'mapping') return isMappingShown(field, members)
  if (value === null) return true
  switch (field.type) {
    case 'text':
    case 'model':
    case 'sql':
    case 'field':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    case 'flag':
      return typeof value === 'boolean'
    case 'choice':
      return typeof value === 'string' && field.options.includes(value)
    case 'fields':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
    case 'headers':
      return isMembers(value) && Object.values(value).every((item) => typeof item === 'string')
  }
}

function isMappingShown({ key, several }: KindField & { type: 'mapping' }, members: FormMembers): boolean {
  const [one, map] = [memberOf(members, key), memberOf(members, several)]
  if (one !== null && map !== null) return false
  const isMap = isMembers(map) && Object.values(map).every((item) => typeof item === 'string')
  return (one === null || typeof one === 'string') && (map === null || isMap)
}

/** Lists the members that the form of a kind does not show, which it leaves as they are. */
export function unshown(members: FormMembers, { kind, isStep }: { kind: string; isStep: boolean }): string[] {
  const shown = fieldsOfKind(kind, isStep).filter((field) => canShow(field, members))
  const keys = new Set(['kind', ...(isStep ? [] : ['targets']), ...(kind === 'first' ? ['steps'] : [])])
  for (const field of shown) {
    keys.add(field.key)
    if (field.type === 'mapping') keys.add(field.several)
  }
  return Object.entries(members).flatMap(([key, value]) => (keys.has(key) || value === null ? [] : [key]))
}

/** Returns the texts of a list; none for another value. */
export function namesOf(value: FormValue): readonly string[] {
  return Array.isArray(value)
    ? (value as readonly FormValue[]).filter((item) => typeof item === 'string')
    : []
}

/** Whether a file is a formula over the fields of one record: not a query over all records, which can fill several fields. */
export function isFormula(members: FormMembers): boolean {
  return textOf(members, 'kind') === 'sql' && !/^\s*(?:select|with)\b/i.test(textOf(members, 'expression'))
}

/** Returns the steps of a file of kind `first`. */
export function stepsOf(members: FormMembers): readonly FormMembers[] {
  const steps = memberOf(members, 'steps')
  return Array.isArray(steps)
    ? (steps as readonly FormValue[]).map((step) => (isMembers(step) ? step : {}))
    : []
}

/** Returns the edits that give a member a value; null clears it, which counts as absent, and keeps its place and its comments. */
export function setMember(
  members: FormMembers,
  { at, key }: { readonly at: YamlPath; readonly key: string },
  value: null | boolean | number | string,
): YamlEdit[] {
  if (value === memberOf(members, key)) return []
  return [{ op: 'set', path: [...at, key], value }]
}

/** Returns the edits for other texts of a list. */
export function setNames(
  members: FormMembers,
  { at, key }: { readonly at: YamlPath; readonly key: string },
  names: readonly string[],
): YamlEdit[] {
  const value = memberOf(members, key)
  if (!Array.isArray(value)) return [{ op: 'set', path: [...at, key], value: [...names] }]
  return editsBetween([...namesOf(value)], [...names], [...at, key])
}
