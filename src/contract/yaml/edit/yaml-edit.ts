import { isJsonObject, type JsonObject, type JsonValue } from '../../json/json.ts'

/** The keys and indexes from the root of a document to a value. */
export type YamlPath = readonly (string | number)[]

/** A replaced range of a text. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A change to the value of a YAML text. */
export type YamlEdit =
  /** Replaces the value at a path, or adds the last key of the path to its map, at the end. */
  | { readonly op: 'set'; readonly path: YamlPath; readonly value: JsonValue }
  /** Removes a key or an item. */
  | { readonly op: 'remove'; readonly path: YamlPath }
  /** Inserts items, of which `path` is the path of the first. */
  | { readonly op: 'insert'; readonly path: YamlPath; readonly values: readonly JsonValue[] }
  /** Moves an item to another index of its list. */
  | { readonly op: 'move'; readonly path: YamlPath; readonly to: number }
  /** Gives a key another name. */
  | { readonly op: 'rename'; readonly path: YamlPath; readonly key: string }
  /** Replaces parts of a text value; the offsets are those of the value. */
  | { readonly op: 'text'; readonly path: YamlPath; readonly edits: readonly TextEdit[] }

/** Returns the value after an edit. Throws Error for a path that does not exist. */
export function editValue(value: JsonValue, edit: YamlEdit): JsonValue {
  const [last, ...before] = edit.path.toReversed()
  const parents = before.toReversed()
  if (last === undefined) {
    if (edit.op === 'set') return edit.value
    if (edit.op === 'text') return editText(textAt(value), edit.edits)
    throw new Error(`${edit.op} needs a path`)
  }
  return within(value, parents, (parent) => {
    if (Array.isArray(parent) && typeof last === 'number') return editList(parent, last, edit)
    if (isJsonObject(parent) && typeof last === 'string') return editMap(parent, last, edit)
    throw new Error(`${edit.path.join('.')} does not exist`)
  })
}

/** Returns a text with parts replaced, which do not overlap; what is inserted at the same place keeps its order. */
export function editText(text: string, edits: readonly TextEdit[]): string {
  let edited = ''
  let done = 0
  for (const { start, end, text: part } of edits.toSorted((a, b) => a.start - b.start)) {
    edited += text.slice(done, start) + part
    done = end
  }
  return edited + text.slice(done)
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt(value: JsonValue, path: YamlPath): JsonValue | undefined {
  let found: JsonValue | undefined = value
  for (const step of path) {
    if (Array.isArray(found))
      found = typeof step === 'number' ? (found as readonly JsonValue[])[step] : undefined
    else found = isJsonObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }
  return found
}

function within(value: JsonValue, path: YamlPath, change: (value: JsonValue) => JsonValue): JsonValue {
  const [step, ...rest] = path
  if (step === undefined) return change(value)
  const inner = valueAt(value, [step])
  if (inner === undefined) throw new Error(`${path.join('.')} does not exist`)
  const changed = within(inner, rest, change)
  if (Array.isArray(value)) return (value as readonly JsonValue[]).with(step as number, changed)
  return fromEntries(
    Object.entries(value as JsonObject).map(([key, old]) => [key, key === step ? changed : old]),
  )
}

function editList(list: readonly JsonValue[], index: number, edit: YamlEdit): JsonValue {
  if (edit.op === 'insert') {
    if (index > list.length) throw new Error(`${edit.path.join('.')} is beyond the list`)
    return list.toSpliced(index, 0, ...edit.values)
  }
  const item = list[index]
  if (item === undefined) throw new Error(`${edit.path.join('.')} does not exist`)
  switch (edit.op) {
    case 'set':
      return list.with(index, edit.value)
    case 'remove':
      return list.toSpliced(index, 1)
    case 'move':
      return list.toSpliced(index, 1).toSpliced(edit.to, 0, item)
    case 'text':
      return list.with(index, editText(textAt(item), edit.edits))
    case 'rename':
      throw new Error('an item of a list has no key')
  }
}

function editMap(map: JsonObject, key: string, edit: YamlEdit): JsonValue {
  const entries = Object.entries(map)
  const isThere = Object.hasOwn(map, key)
  if (edit.op === 'set' && !isThere) return fromEntries([...entries, [key, edit.value]])
  if (!isThere) throw new Error(`${edit.path.join('.')} does not exist`)
  switch (edit.op) {
    case 'set':
      return fromEntries(entries.map(([name, old]) => [name, name === key ? edit.value : old]))
    case 'remove':
      return fromEntries(entries.filter(([name]) => name !== key))
    case 'rename':
      return fromEntries(entries.map(([name, old]) => [name === key ? edit.key : name, old]))
    case 'text':
      return fromEntries(
        entries.map(([name, old]) => [name, name === key ? editText(textAt(old), edit.edits) : old]),
      )
    default:
      throw new Error(`${edit.op} needs a list`)
  }
}

function textAt(value: JsonValue): string {
  if (typeof value !== 'string') throw new Error('the value is not a text')
  return value
}

/** Makes every key an own property, also `__proto__`. */
function fromEntries(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return Object.fromEntries(entries)
}
