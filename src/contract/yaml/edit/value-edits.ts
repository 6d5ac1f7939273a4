import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '../../json/json.ts'
import type { YamlEdit, YamlPath } from './yaml-edit.ts'

/** Keys whose values identify an item of a list. */
const IDENTITY = ['id', 'name', 'property']

/**
 * Returns edits that change one value into another, to be applied in order. Items of lists are matched by what identifies them (`id`, `name`,
 * `property`), others by their value, so that an item that did not change is not edited.
 */
export function editsBetween(before: JsonValue, after: JsonValue, path: YamlPath = []): YamlEdit[] {
  if (jsonEqual(before, after)) return []
  if (isJsonObject(before) && isJsonObject(after)) return mapEdits(before, after, path)
  if (Array.isArray(before) && Array.isArray(after)) {
    return listEdits(before as readonly JsonValue[], after as readonly JsonValue[], path)
  }
  return [{ op: 'set', path, value: after }]
}

function mapEdits(before: JsonObject, after: JsonObject, path: YamlPath): YamlEdit[] {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  // A map is never empty on the way.
  const isReplaced = removed.length === Object.keys(before).length
  if (isReplaced && path.length > 0) return [{ op: 'set', path, value: after }]
  return [
    ...Object.entries(after).flatMap(([key, value]): YamlEdit[] => {
      const old = Object.hasOwn(before, key) ? before[key] : undefined
      return old === undefined
        ? [{ op: 'set', path: [...path, key], value }]
        : editsBetween(old, value, [...path, key])
    }),
    ...removed.map((key): YamlEdit => ({ op: 'remove', path: [...path, key] })),
  ]
}

function listEdits(before: readonly JsonValue[], after: readonly JsonValue[], path: YamlPath): YamlEdit[] {
  const identity = identityOf(before, after)
  const edits: YamlEdit[] = []
  const items = before.map((value) => ({ key: identity(value), value }))
  const wanted = new Set(after.map(identity))
  for (let index = items.length - 1; index >= 0; index -= 1) {
    if (wanted.has(items[index]!.key)) continue
    edits.push({ op: 'remove', path: [...path, index] })
    items.splice(index, 1)
  }
  for (const [index, value] of after.entries()) {
    const key = identity(value)
    const at = items.findIndex((item, place) => place >= index && item.key === key)
    if (at === -1) {
      const last = edits.at(-1)
      // Items beside each other are inserted together, which takes the time of one edit.
      if (last?.op === 'insert' && isAt(last.path, [...path, index - last.values.length]))
        edits[edits.length - 1] = { ...last, values: [...last.values, value] }
      else edits.push({ op: 'insert', path: [...path, index], values: [value] })
      items.splice(index, 0, { key, value })
      continue
    }
    const [item] = items.splice(at, 1)
    if (item === undefined) continue
    if (at !== index) edits.push({ op: 'move', path: [...path, at], to: index })
    items.splice(index, 0, item)
    edits.push(...editsBetween(item.value, value, [...path, index]))
  }
  // Items that are there more than once.
  for (let index = items.length - 1; index >= after.length; index -= 1) {
    edits.push({ op: 'remove', path: [...path, index] })
  }
  return edits
}

function isAt(path: YamlPath, other: YamlPath): boolean {
  return path.length === other.length && path.at(-1) === other.at(-1)
}

/** Returns how items of both lists are told apart: by a key that all have, each with another text, otherwise by their values. */
function identityOf(before: readonly JsonValue[], after: readonly JsonValue[]): (item: JsonValue) => string {
  const key = IDENTITY.find((name) => [before, after].every((list) => isUnique(list, name)))
  if (key === undefined) return (item) => JSON.stringify(item)
  return (item) => JSON.stringify((item as JsonObject)[key])
}

function isUnique(list: readonly JsonValue[], key: string): boolean {
  const names = list.map((item) => (isJsonObject(item) && Object.hasOwn(item, key) ? item[key] : undefined))
  return names.every((name) => typeof name === 'string') && new Set(names).size === list.length
}
