import { editsBetween } from '../../../../src/contract/yaml/edit/value-edits.ts'
import type { YamlEdit, YamlPath } from '../../../../src/contract/yaml/edit/yaml-edit.ts'
import { isMembers, memberOf, textOf, type FormMembers } from './form-text.ts'
import { KIND_FIELDS, type KindField } from './kind-fields.ts'
import { namesOf, stepsOf } from './member-forms.ts'

export type MappingField = KindField & { readonly type: 'mapping' }

/** Returns the path or column of each target; empty for one without. */
export function mappingOf(
  { key, several }: MappingField,
  members: FormMembers,
  targets: readonly string[],
): ReadonlyMap<string, string> {
  const [one, map] = [memberOf(members, key), memberOf(members, several)]
  return new Map(
    targets.map((target, index) => {
      const value = isMembers(map) ? memberOf(map, target) : index === 0 ? one : null
      return [target, typeof value === 'string' ? value : ''] as const
    }),
  )
}

/** Returns the edit that gives a target a path or column. */
export function mapTarget(
  { key, several }: MappingField,
  members: FormMembers,
  {
    at,
    targets,
    target,
    value,
  }: {
    readonly at: YamlPath
    readonly targets: readonly string[]
    readonly target: string
    readonly value: string
  },
): YamlEdit {
  if (isMembers(memberOf(members, several))) return { op: 'set', path: [...at, several, target], value }
  if (targets.length === 1) return { op: 'set', path: [...at, key], value }
  return { op: 'set', path: [...at, several], value: { [target]: value } }
}

/**
 * Returns the edits for other targets of a file, one or more of its own and others. What fills each stays; the form of one target becomes that
 * of several where another is added.
 */
export function setTargets(members: FormMembers, targets: readonly string[]): YamlEdit[] {
  const before = namesOf(memberOf(members, 'targets'))
  const written = Array.isArray(memberOf(members, 'targets'))
  const list: YamlEdit[] = written
    ? editsBetween([...before], [...targets], ['targets'])
    : [{ op: 'set', path: ['targets'], value: [...targets] }]
  const parts = [
    { part: members, at: [] as YamlPath },
    ...stepsOf(members).map((part, index) => ({ part, at: ['steps', index] as YamlPath })),
  ]
  return [...list, ...parts.flatMap(({ part, at }) => remapped(part, { at, before, targets }))]
}

function remapped(
  members: FormMembers,
  { at, before, targets }: { at: YamlPath; before: readonly string[]; targets: readonly string[] },
): YamlEdit[] {
  const field = (KIND_FIELDS[textOf(members, 'kind')] ?? []).find((each) => each.type === 'mapping')
  if (field?.type !== 'mapping') return []
  const { key, several } = field
  const map = memberOf(members, several)
  const wanted = targets.filter((target) => target !== '')
  const old = mappingOf(field, members, before)
  const valueOf = (target: string): string => old.get(target) || target
  if (isMembers(map)) {
    const next = Object.fromEntries(wanted.map((target) => [target, valueOf(target)]))
    return editsBetween(map, next, [...at, several])
  }
  const [only, ...others] = wanted
  if (only === undefined || (others.length === 0 && only === before[0])) return []
  if (others.length === 0) return [{ op: 'set', path: [...at, key], value: valueOf(only) }]
  const value = Object.fromEntries(wanted.map((target) => [target, valueOf(target)]))
  if (!Object.hasOwn(members, key)) return [{ op: 'set', path: [...at, several], value }]
  return [
    { op: 'rename', path: [...at, key], key: several },
    { op: 'set', path: [...at, several], value },
  ]
}
