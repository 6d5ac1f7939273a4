import { isAlias, isMap, visit } from 'yaml'
import type { Alias, Node } from 'yaml'
import { ContractError, fileError, OperationError } from '../../../errors/service-error.ts'
import { isJsonObject, jsonEqual, type JsonValue } from '../../json/json.ts'
import { YamlError } from '../yaml-document.ts'
import { FILE_LIMITS } from '../yaml-limits.ts'
import { splicesOf } from './splice-yaml.ts'
import { keyOf } from '../yaml-value.ts'
import { inlineText, styleOf } from './write-yaml.ts'
import { editText, editValue, valueAt, type TextEdit, type YamlEdit, type YamlPath } from './yaml-edit.ts'
import { anchorOf, YamlSource } from './yaml-source.ts'

/**
 * Applies edits, one after the other, to a YAML text that parseYamlFile accepts. All lines that an edit does not concern stay byte for byte the
 * same; what is new follows the habits of the file. Aliases of what changes are replaced by their values. The result is parsed again and has
 * the expected value. Throws OperationError for a place that cannot be edited like that, ContractError for a text beyond the limits.
 */
export function editYaml(text: string, file: string, edits: readonly YamlEdit[]): string {
  for (const edit of edits) checkTexts(edit)
  let source = read(text, file)
  const together = edits.length > 1 ? appliedTogether(source, file, edits) : null
  if (together !== null) return together.text
  for (const edit of edits) source = applied(source, file, edit)
  return source.text
}

/** Throws OperationError for an edit with a text that no file can have. */
function checkTexts(edit: YamlEdit): void {
  if (isWellFormed(edit as unknown as JsonValue)) return
  throw new OperationError(
    `${edit.path.join('.').toWellFormed()} would have a lone surrogate, which is no character; send valid Unicode`,
  )
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return (value as readonly JsonValue[]).every(isWellFormed)
  if (!isJsonObject(value)) return true
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member))
}

/** Returns the value of a YAML text that {@link editYaml} can edit. Throws ContractError with the line for a text that is no YAML. */
export function readYaml(text: string, file: string): JsonValue {
  return read(text, file).value
}

/** Returns the value of a YAML text, and where an edit would change it. */
function read(text: string, file: string): YamlSource {
  try {
    return new YamlSource(text, file, FILE_LIMITS)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const line = text.slice(0, error.offset).split('\n').length
    throw new ContractError(...fileError({ file, line, message: error.message }, 'invalid_definition'))
  }
}

/** Edits that replace a part of the text where it is. */
const IN_PLACE: ReadonlySet<YamlEdit['op']> = new Set(['set', 'text', 'rename'])

/** Applies edits of different places in one go, which takes the time of one; null where they depend on each other. */
function appliedTogether(source: YamlSource, file: string, edits: readonly YamlEdit[]): YamlSource | null {
  const isInPlace = ({ op, path }: YamlEdit): boolean =>
    IN_PLACE.has(op) && valueAt(source.value, path) !== undefined
  if (!edits.every((edit) => isInPlace(edit) && aliasesIn(source, edit).length === 0)) return null
  const all = edits.map((edit) => splicesOf(source, edit)[0])
  if (!all.every((splices) => splices !== undefined)) return null
  const splices = all.flat().toSorted((a, b) => a.start - b.start)
  if (splices.some(({ start }, index) => start < (splices[index - 1]?.end ?? 0))) return null
  try {
    const expected = edits.reduce(editValue, source.value)
    const next = attempt(source.text, splices, file)
    return next !== null && jsonEqual(next.value, expected) ? next : null
  } catch (error) {
    // A path that an earlier edit has changed.
    if (error instanceof ContractError) throw error
    return null
  }
}

function applied(source: YamlSource, file: string, edit: YamlEdit): YamlSource {
  const expected = editValue(source.value, edit)
  if (jsonEqual(source.value, expected) && edit.op !== 'move') return source
  const own = withoutAliases(source, file, edit)
  for (const splices of splicesOf(own, edit)) {
    const next = attempt(own.text, splices, file)
    if (next !== null && jsonEqual(next.value, expected)) return next
  }
  const item = edit.op === 'move' ? valueAt(own.value, edit.path) : undefined
  if (edit.op === 'move' && item !== undefined) {
    const removed = applied(own, file, { op: 'remove', path: edit.path })
    return applied(removed, file, {
      op: 'insert',
      path: [...edit.path.slice(0, -1), edit.to],
      values: [item],
    })
  }
  throw notEditable(own, file, edit.path)
}

/** Returns the text after splices; null if it is not YAML. */
function attempt(text: string, splices: readonly TextEdit[], file: string): YamlSource | null {
  try {
    return new YamlSource(editText(text, splices), file, FILE_LIMITS)
  } catch (error) {
    if (error instanceof YamlError) return null
    throw error
  }
}

function notEditable(source: YamlSource, file: string, path: YamlPath): OperationError {
  const node = source.nodes(path).findLast((found) => found?.range)
  const line = source.text.slice(0, node?.range?.[0] ?? 0).split('\n').length
  return new OperationError(
    `${file}:${line}: ${path.join('.') || 'the file'} is written in a form that can only be edited by hand; edit the file`,
  )
}

/** Replaces the aliases that the edit would change along, or leave without their anchor, by their values. */
function withoutAliases(source: YamlSource, file: string, edit: YamlEdit): YamlSource {
  let own = source
  for (;;) {
    const aliases = aliasesIn(own, edit)
    if (aliases.length === 0) return own
    const style = styleOf(own)
    const splices = aliases.map((alias) => {
      const [start = 0, end = 0] = alias.range ?? []
      return { start, end, text: inlineText(own.valueOf(alias), style) }
    })
    const next = attempt(own.text, splices, file)
    if (next === null || !jsonEqual(next.value, own.value)) throw notEditable(own, file, edit.path)
    own = next
  }
}

function aliasesIn(source: YamlSource, edit: YamlEdit): readonly Alias[] {
  const isNew = edit.op === 'insert' || (edit.op === 'set' && valueAt(source.value, edit.path) === undefined)
  const path = isNew ? edit.path.slice(0, -1) : edit.path
  const nodes = source.nodes(path)
  const alias = nodes.find((node) => isAlias(node))
  if (alias !== undefined)
    return isAlias(nodes.at(-1)) && !isNew && edit.op !== 'text' ? aliasesOf(source, nodes) : [alias]
  const changed = aliasesOf(source, nodes)
  if (changed.length > 0 || isNew) return changed
  return aliasesInto(source, nodes.at(-1) ?? null, keyNode(source, path))
}

function aliasesOf(source: YamlSource, nodes: readonly (Node | null)[]): readonly Alias[] {
  return nodes.flatMap((node) =>
    node === null || anchorOf(node) === undefined ? [] : source.aliasesOf(node),
  )
}

/** Returns the aliases outside of a value whose anchors are inside of it, or on its key. */
function aliasesInto(source: YamlSource, value: Node | null, key: Node | null): readonly Alias[] {
  const [start = 0, , end = 0] = value?.range ?? []
  const anchored: Node[] = []
  for (const root of [key, value]) {
    if (root !== null) {
      visit(root, {
        Node: (_, node) => {
          if (!isAlias(node) && anchorOf(node) !== undefined) anchored.push(node)
        },
      })
    }
  }
  return anchored.flatMap((node) =>
    source.aliasesOf(node).filter((alias) => {
      const at = alias.range?.[0] ?? 0
      return at < start || at >= end
    }),
  )
}

function keyNode(source: YamlSource, path: YamlPath): Node | null {
  const parent = source.collection(path.slice(0, -1))
  if (!isMap(parent)) return null
  const pair = parent.items.find((item) => keyOf(item) === path.at(-1))
  return (pair?.key as Node | undefined) ?? null
}
