import type { Contract, Field } from '../contract.ts'
import type { DefinitionChange } from './classify-changes.ts'

/** A change of the index of a field: one that has another name, or whose values have another type, is made anew or renamed by the store. */
export interface IndexChange {
  /** The name of the field after the change, of a removed field the name before. */
  readonly field: string
  readonly change: 'created' | 'dropped' | 'rebuilt' | 'renamed'
}

/** Lists the changes of indexes between two contracts, in the order of the second, then those of removed fields. `renamed` has the new names by those before. */
export function changedIndexes(
  before: Contract,
  after: Contract,
  renamed: ReadonlyMap<string, string> = new Map(),
): readonly IndexChange[] {
  const nameBefore = new Map(Array.from(renamed, ([from, to]) => [to, from]))
  const kept = new Set<string>()
  const changes = after.fields.flatMap((field): IndexChange[] => {
    const earlier = before.fieldByName.get(nameBefore.get(field.name) ?? field.name)
    if (earlier !== undefined) kept.add(earlier.name)
    const change = changeOf(earlier, field)
    return change === null ? [] : [{ field: field.name, change }]
  })
  const gone = before.fields.filter((field) => !kept.has(field.name) && hasIndex(field))
  return [...changes, ...gone.map(({ name }) => ({ field: name, change: 'dropped' }) as const)]
}

/** Returns the names before of the fields whose readers break: they are renamed, removed, or have another type. */
export function brokenFields(
  changes: readonly DefinitionChange[],
  renamed: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  const nameBefore = new Map(Array.from(renamed, ([from, to]) => [to, from]))
  const names = changes.flatMap((change) => {
    if (change.change === 'rename') return [change.from]
    if (change.change === 'remove') return [change.field]
    return change.change === 'retype' ? [nameBefore.get(change.field) ?? change.field] : []
  })
  return [...new Set(names)]
}

function changeOf(before: Field | undefined, after: Field): IndexChange['change'] | null {
  const has = hasIndex(after)
  if (before === undefined || !hasIndex(before)) return has ? 'created' : null
  if (!has) return 'dropped'
  if (before.type !== after.type || before.unique !== after.unique) return 'rebuilt'
  return before.name === after.name ? null : 'renamed'
}

/** Whether the store has an index for a field, apart from the primary key. */
function hasIndex({ primaryKey, unique, indexed }: Field): boolean {
  return (unique || indexed) && !primaryKey
}
